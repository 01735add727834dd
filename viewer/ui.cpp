/*
 * Dear ImGui behind ui.h. The only C++ file of the project: no decisions are made here, only how things look.
 */
#include "viewer/ui.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <backends/imgui_impl_opengl3.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Looks
 */

namespace
{

/* Where families of letters are installed, the nicest first; without any of them ImGui's own small one serves. */
struct font_family {
    const char *regular, *bold;
};

const font_family families[] = {
    {"/usr/share/fonts/truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
     "/usr/share/fonts/truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf"},
    {"/usr/share/fonts/truetype/open-sans/OpenSans-Regular.ttf",
     "/usr/share/fonts/truetype/open-sans/OpenSans-Semibold.ttf"},
    {"/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf", "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"},
    {"/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
     "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf"},
};

const ImU32 ink = IM_COL32(226, 230, 236, 255), faint_ink = IM_COL32(146, 154, 166, 255);
const ImU32 accent = IM_COL32(82, 156, 240, 255), accent_dark = IM_COL32(46, 96, 158, 255);
const ImU32 warning_ink = IM_COL32(255, 176, 84, 255);
const ImU32 panel_fill = IM_COL32(29, 32, 38, 255), float_fill = IM_COL32(29, 32, 38, 242);
const ImU32 item_fill = IM_COL32(46, 51, 60, 255), item_hovered = IM_COL32(58, 64, 76, 255),
            line_fill = IM_COL32(56, 61, 71, 255);

struct item {
    ImGuiID key;
    ImRect box;
};

struct state {
    float scale = 1.0f;
    ImFont *fonts[UI_STYLE_COUNT] = {};
    ImVector<item> items;
};

state *ui = nullptr;

ImVec4 colour(ImU32 c) { return ImGui::ColorConvertU32ToFloat4(c); }

ImU32 from_hex(uint32_t rgb, float opacity)
{
    return IM_COL32((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255, (int)(255.0f * opacity));
}

float px(float points) { return floorf(points * ui->scale + 0.5f); }

ImFont *add_font(const char *path, float points)
{
    ImFontConfig config;
    config.OversampleH = 2;
    config.OversampleV = 1;
    static const ImWchar ranges[] = {0x20, 0xFF, 0x2010, 0x2027, 0x2190, 0x2193, 0x2212, 0x2212, 0};
    ImFontAtlas *atlas = ImGui::GetIO().Fonts;
    if (path == nullptr) {
        config.SizePixels = px(points * 0.9f);
        return atlas->AddFontDefault(&config);
    }
    return atlas->AddFontFromFileTTF(path, px(points), &config, ranges);
}

bool readable(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != nullptr) {
        fclose(file);
    }
    return file != nullptr;
}

void load_fonts()
{
    font_family family = {nullptr, nullptr};
    for (const font_family &f : families) {
        if (readable(f.regular) && readable(f.bold)) {
            family = f;
            break;
        }
    }
    ImGui::GetIO().Fonts->Clear();
    ImFont *normal = add_font(family.regular, 15.0f), *small = add_font(family.regular, 13.0f);
    ImFont *strong = add_font(family.bold, 15.0f), *title = add_font(family.bold, 20.0f);
    ImFont *tiny = add_font(family.regular, 12.0f);
    ImFont *all[UI_STYLE_COUNT] = {normal, strong, normal, small, tiny, title, normal};
    memcpy(ui->fonts, all, sizeof all);
    ImGui::GetIO().Fonts->Build();
}

void set_style()
{
    ImGuiStyle style;
    ImGui::StyleColorsDark(&style);
    style.WindowPadding = ImVec2(16, 14);
    style.FramePadding = ImVec2(9, 5);
    style.ItemSpacing = ImVec2(8, 7);
    style.ItemInnerSpacing = ImVec2(6, 5);
    style.WindowRounding = 0.0f;
    style.FrameRounding = 4.0f;
    style.GrabRounding = 4.0f;
    style.PopupRounding = 4.0f;
    style.ScrollbarRounding = 4.0f;
    style.ScrollbarSize = 10.0f;
    style.GrabMinSize = 10.0f;
    style.WindowBorderSize = 0.0f;
    style.PopupBorderSize = 1.0f;
    style.ScaleAllSizes(ui->scale);
    ImVec4 *c = style.Colors;
    c[ImGuiCol_Text] = colour(ink);
    c[ImGuiCol_TextDisabled] = colour(faint_ink);
    c[ImGuiCol_WindowBg] = colour(panel_fill);
    c[ImGuiCol_PopupBg] = colour(IM_COL32(38, 42, 50, 250));
    c[ImGuiCol_Border] = colour(line_fill);
    c[ImGuiCol_FrameBg] = c[ImGuiCol_Button] = colour(item_fill);
    c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_ButtonHovered] = colour(item_hovered);
    c[ImGuiCol_FrameBgActive] = c[ImGuiCol_ButtonActive] = colour(accent_dark);
    c[ImGuiCol_SliderGrab] = c[ImGuiCol_SliderGrabActive] = c[ImGuiCol_CheckMark] = colour(accent);
    c[ImGuiCol_Header] = colour(IM_COL32(42, 66, 98, 255));
    c[ImGuiCol_HeaderHovered] = colour(IM_COL32(46, 51, 60, 255));
    c[ImGuiCol_HeaderActive] = colour(accent_dark);
    c[ImGuiCol_Separator] = colour(line_fill);
    c[ImGuiCol_ScrollbarBg] = ImVec4(0, 0, 0, 0);
    c[ImGuiCol_ScrollbarGrab] = colour(item_hovered);
    c[ImGuiCol_ChildBg] = ImVec4(0, 0, 0, 0);
    c[ImGuiCol_NavHighlight] = ImVec4(0, 0, 0, 0);
    ImGui::GetStyle() = style;
}

/* Remembers where an item is, as far as it can be seen. */
void keep(const char *label, const ImRect &box)
{
    ImRect seen = box;
    seen.ClipWith(ImGui::GetCurrentWindow()->ClipRect);
    if (seen.GetWidth() >= 0.5f * box.GetWidth() && seen.GetHeight() >= 0.5f * box.GetHeight()) {
        ui->items.push_back(item{ImHashStr(label), seen});
    }
}

void keep_last(const char *label) { keep(label, ImRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax())); }

ImU32 style_colour(ui_style style)
{
    return style == UI_WARNING                                             ? warning_ink
           : style == UI_NORMAL || style == UI_STRONG || style == UI_TITLE ? ink
                                                                           : faint_ink;
}

void push_style(ui_style style)
{
    ImGui::PushFont(ui->fonts[style]);
    ImGui::PushStyleColor(ImGuiCol_Text, style_colour(style));
}

void pop_style()
{
    ImGui::PopStyleColor();
    ImGui::PopFont();
}

} // namespace

/* ------------------------------------------------------------------------------------------------------------------
 * Lifetime
 */

bool ui_open(float scale)
{
    ImGui::CreateContext();
    ui = IM_NEW(state);
    ui->scale = scale;
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr; /* what is remembered is in settings.c */
    io.LogFilename = nullptr;
    io.ConfigInputTextCursorBlink = false;
    for (int i = 0; i < UI_KEY_COUNT; i++) {
        static const ImGuiKey keys[UI_KEY_COUNT] = {
            ImGuiKey_Tab,       ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow,
            ImGuiKey_PageUp,    ImGuiKey_PageDown,  ImGuiKey_Home,       ImGuiKey_End,     ImGuiKey_Delete,
            ImGuiKey_Backspace, ImGuiKey_Enter,     ImGuiKey_Escape,     ImGuiKey_A,       ImGuiKey_C,
            ImGuiKey_V,         ImGuiKey_X};
        io.KeyMap[keys[i]] = i;
    }
    load_fonts();
    set_style();
    return ImGui_ImplOpenGL3_Init("#version 330");
}

void ui_close(void)
{
    ImGui_ImplOpenGL3_Shutdown();
    IM_DELETE(ui);
    ui = nullptr;
    ImGui::DestroyContext();
}

void ui_set_scale(float scale)
{
    if (scale != ui->scale) {
        ui->scale = scale;
        load_fonts();
        set_style();
        ImGui_ImplOpenGL3_DestroyFontsTexture();
        ImGui_ImplOpenGL3_CreateFontsTexture();
    }
}

void ui_begin_frame(float width, float height, float seconds)
{
    ImGuiIO &io = ImGui::GetIO();
    io.DisplaySize = ImVec2(px(width), px(height));
    io.DeltaTime = fmaxf(seconds, 1e-4f);
    ui->items.resize(0);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
}

void ui_end_frame(void)
{
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    ImGui::GetIO().MouseWheel = 0.0f;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Input
 */

void ui_mouse_at(float x, float y) { ImGui::GetIO().MousePos = ImVec2(x * ui->scale, y * ui->scale); }

void ui_mouse_button(int button, bool down) { ImGui::GetIO().MouseDown[button] = down; }

void ui_mouse_wheel(float clicks) { ImGui::GetIO().MouseWheel += clicks; }

void ui_press(ui_key key, bool down) { ImGui::GetIO().KeysDown[key] = down; }

void ui_modifiers(bool shift, bool control, bool alt)
{
    ImGuiIO &io = ImGui::GetIO();
    io.KeyShift = shift;
    io.KeyCtrl = control;
    io.KeyAlt = alt;
}

void ui_type(const char *text) { ImGui::GetIO().AddInputCharactersUTF8(text); }

bool ui_has_mouse(void) { return ImGui::GetIO().WantCaptureMouse; }

bool ui_has_keys(void) { return ImGui::GetIO().WantTextInput; }

ui_cursor ui_wanted_cursor(void)
{
    switch (ImGui::GetMouseCursor()) {
    case ImGuiMouseCursor_TextInput: return UI_CURSOR_TEXT;
    case ImGuiMouseCursor_ResizeEW: return UI_CURSOR_SIZE;
    default: return UI_CURSOR_ARROW;
    }
}

bool ui_find_item(const char *label, ui_box *box)
{
    ImGuiID key = ImHashStr(label);
    for (const item &i : ui->items) {
        if (i.key == key) {
            *box = ui_box{i.box.Min.x / ui->scale, i.box.Min.y / ui->scale, i.box.GetWidth() / ui->scale,
                          i.box.GetHeight() / ui->scale};
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Windows
 */

namespace
{

/* Everything behind a modal window is dark, and out of the mouse's reach. */
void dim()
{
    ImGui::SetNextWindowPos(ImVec2(0.0f, 0.0f));
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, IM_COL32(10, 12, 16, 150));
    ImGui::Begin("dim", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing |
                     ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ImGui::End();
    ImGui::PopStyleColor();
}

} // namespace

void ui_window_begin(const char *name, ui_window_kind kind, ui_box box)
{
    ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                             ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav;
    flags |= box.height <= 0.0f ? ImGuiWindowFlags_AlwaysAutoResize : 0;
    flags |= kind != UI_MODAL ? ImGuiWindowFlags_NoBringToFrontOnFocus : 0;
    ImGui::SetNextWindowPos(ImVec2(px(box.x), px(box.y)));
    if (box.height > 0.0f) {
        ImGui::SetNextWindowSize(ImVec2(px(box.width), px(box.height)));
    } else {
        ImGui::SetNextWindowSizeConstraints(ImVec2(px(box.width), 0.0f),
                                            ImVec2(box.width > 0.0f ? px(box.width) : FLT_MAX, FLT_MAX));
    }
    if (kind == UI_MODAL) {
        dim();
        ImGui::SetNextWindowPos(ImVec2(px(box.x), px(box.y)));
        ImGui::SetNextWindowSize(ImVec2(px(box.width), px(box.height)));
    }
    bool floats = kind == UI_FLOAT || kind == UI_MODAL;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, floats ? px(8.0f) : 0.0f);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1.0f, 1.0f));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, kind == UI_FLOAT ? float_fill : panel_fill);
    if (kind == UI_MODAL) {
        ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(28.0f), px(24.0f)));
    }
    ImGui::Begin(name, nullptr, flags);
    if (kind == UI_MODAL) {
        ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
        ImGui::PopStyleVar(2);
    }
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
}

void ui_window_end(void)
{
    keep(ImGui::GetCurrentWindow()->Name, ImGui::GetCurrentWindow()->Rect());
    ImGui::End();
}

void ui_scroll_begin(const char *name, float height)
{
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8.0f), px(7.0f)));
    ImGui::BeginChild(name,
                      ImVec2(0.0f, height == 0.0f  ? 0.0f
                                   : height > 0.0f ? px(height)
                                                   : -px(-height)),
                      false, ImGuiWindowFlags_NoNav);
}

void ui_scroll_end(void)
{
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

void ui_columns_begin(const char *name)
{
    ImGui::BeginTable(name, 2, ImGuiTableFlags_SizingStretchSame);
    ImGui::TableNextColumn();
}

void ui_columns_next(void) { ImGui::TableNextColumn(); }

void ui_columns_end(void) { ImGui::EndTable(); }

/* ------------------------------------------------------------------------------------------------------------------
 * Text
 */

void ui_text(ui_style style, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    push_style(style);
    ImGui::TextV(format, arguments);
    pop_style();
    va_end(arguments);
}

void ui_text_wrapped(ui_style style, const char *text)
{
    push_style(style);
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    pop_style();
}

void ui_gap(float height) { ImGui::Dummy(ImVec2(0.0f, px(height))); }

void ui_same_line(void) { ImGui::SameLine(); }

void ui_same_line_at(float x)
{
    ImGui::SameLine();
    const ImGuiWindow *window = ImGui::GetCurrentWindow();
    float left =
        window->Pos.x - window->Scroll.x + window->DC.Indent.x + window->DC.ColumnsOffset.x; /* of the column */
    ImGui::SetCursorScreenPos(
        ImVec2(fmaxf(left + px(x), ImGui::GetCursorScreenPos().x), ImGui::GetCursorScreenPos().y));
}

void ui_line(void)
{
    ImGui::Dummy(ImVec2(0.0f, px(1.0f)));
    ImGui::Separator();
    ImGui::Dummy(ImVec2(0.0f, px(1.0f)));
}

void ui_disable_begin(bool on) { ImGui::BeginDisabled(on); }

void ui_disable_end(void) { ImGui::EndDisabled(); }

float ui_width_left(void) { return ImGui::GetContentRegionAvail().x / ui->scale; }

void ui_tooltip(const char *text)
{
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) && GImGui->HoveredIdTimer > 0.4f) {
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(10.0f), px(7.0f)));
        ImGui::BeginTooltip();
        ImGui::PushTextWrapPos(px(280.0f));
        push_style(UI_NORMAL);
        ImGui::TextUnformatted(text);
        pop_style();
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
        ImGui::PopStyleVar();
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Items
 */

bool ui_button(const char *label, float width, bool lit)
{
    if (lit) {
        ImGui::PushStyleColor(ImGuiCol_Button, accent_dark);
        ImGui::PushStyleColor(ImGuiCol_ButtonHovered, accent);
    }
    bool pressed = ImGui::Button(label, ImVec2(width > 0.0f ? px(width) : 0.0f, px(28.0f)));
    if (lit) {
        ImGui::PopStyleColor(2);
    }
    keep_last(label);
    return pressed;
}

bool ui_input(const char *label, const char *hint, char *text, size_t size)
{
    ImGui::SetNextItemWidth(-1.0f);
    ImGui::PushID(label);
    bool changed = ImGui::InputTextWithHint("##text", hint, text, size);
    ImGui::PopID();
    keep_last(label);
    return changed;
}

void ui_scroll_here(void)
{
    ImGuiWindow *window = ImGui::GetCurrentWindow();
    ImGui::ScrollToBringRectIntoView(window, ImRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax()));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Items that others draw
 */

void ui_get_place(float *x, float *y)
{
    *x = ImGui::GetCursorScreenPos().x / ui->scale;
    *y = ImGui::GetCursorScreenPos().y / ui->scale;
}

void ui_set_place(float x, float y) { ImGui::SetCursorScreenPos(ImVec2(px(x), px(y))); }

namespace
{

ui_touch touch_of_item(bool pressed)
{
    return ui_touch{pressed, ImGui::IsItemHovered(), ImGui::IsItemActive(), ImGui::GetIO().MousePos.x / ui->scale};
}

ImDrawList *list_of(ui_layer layer)
{
    return layer == UI_BELOW ? ImGui::GetBackgroundDrawList() : ImGui::GetWindowDrawList();
}

ImU32 colour_of(ui_layer layer, uint32_t rgb, float opacity)
{
    return from_hex(rgb, layer == UI_HERE ? opacity * ImGui::GetStyle().Alpha : opacity);
}

ImVec2 at(float x, float y) { return ImVec2(x * ui->scale, y * ui->scale); }

} // namespace

ui_touch ui_touch_area(const char *label, float width, float height)
{
    ImGui::PushID(label);
    bool pressed = ImGui::InvisibleButton("area", ImVec2(fmaxf(px(width), 1.0f), fmaxf(px(height), 1.0f)));
    ImGui::PopID();
    keep_last(label);
    return touch_of_item(pressed);
}

bool ui_touch_slider(const char *label, float *value, float low, float high, bool logarithmic, bool whole, bool *typing,
                     ui_touch *touch)
{
    ImGui::PushFont(ui->fonts[UI_SMALL]);
    ImGui::PushID(label);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(6.0f), px(1.0f)));
    ImGuiID id = ImGui::GetID("##way");
    *typing = ImGui::TempInputIsActive(id);
    const ImGuiCol unseen[] = {ImGuiCol_FrameBg,    ImGuiCol_FrameBgHovered,   ImGuiCol_FrameBgActive,
                               ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_Text};
    for (ImGuiCol c : unseen) {
        ImGui::PushStyleColor(c, *typing ? ImGui::GetStyle().Colors[c] : ImVec4(0, 0, 0, 0));
    }
    ImGuiSliderFlags flags = logarithmic ? ImGuiSliderFlags_Logarithmic : 0;
    bool changed = ImGui::SliderFloat("##way", value, low, high, whole ? "%.0f" : "%.4g", flags);
    ImGui::PopStyleColor(IM_ARRAYSIZE(unseen));
    ImGui::PopStyleVar();
    ImGui::PopID();
    ImGui::PopFont();
    keep_last(label);
    *typing = ImGui::TempInputIsActive(id);
    *touch = touch_of_item(false);
    return changed;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Drawing
 */

void ui_draw_line(ui_layer layer, float x0, float y0, float x1, float y1, float width, uint32_t rgb, float opacity)
{
    list_of(layer)->AddLine(at(x0, y0), at(x1, y1), colour_of(layer, rgb, opacity), width * ui->scale);
}

void ui_draw_disc(ui_layer layer, float x, float y, float radius, uint32_t rgb, float opacity)
{
    list_of(layer)->AddCircleFilled(at(x, y), radius * ui->scale, colour_of(layer, rgb, opacity), 32);
}

void ui_draw_ring(ui_layer layer, float x, float y, float radius, float width, uint32_t rgb, float opacity)
{
    list_of(layer)->AddCircle(at(x, y), radius * ui->scale, colour_of(layer, rgb, opacity), 40, width * ui->scale);
}

void ui_draw_arc(ui_layer layer, float x, float y, float radius, float from, float to, float width, uint32_t rgb)
{
    list_of(layer)->PathArcTo(at(x, y), radius * ui->scale, from, to, 24);
    list_of(layer)->PathStroke(colour_of(layer, rgb, 1.0f), 0, fmaxf(width * ui->scale, 1.0f));
}

void ui_draw_box(ui_layer layer, ui_box box, float corner, uint32_t rgb, float opacity)
{
    list_of(layer)->AddRectFilled(at(box.x, box.y), at(box.x + box.width, box.y + box.height),
                                  colour_of(layer, rgb, opacity), corner * ui->scale);
}

void ui_draw_corners(ui_layer layer, const float (*corners)[2], uint32_t count, uint32_t rgb)
{
    ImVec2 points[4];
    for (uint32_t i = 0; i < count && i < 4; i++) {
        points[i] = at(corners[i][0], corners[i][1]);
    }
    list_of(layer)->AddConvexPolyFilled(points, (int)count, colour_of(layer, rgb, 1.0f));
}

void ui_draw_text(ui_layer layer, float x, float y, ui_style style, uint32_t rgb, float wrap, const char *text)
{
    ImFont *font = ui->fonts[style];
    ImVec2 corner = at(x, y);
    list_of(layer)->AddText(font, font->FontSize, ImVec2(floorf(corner.x), floorf(corner.y)),
                            colour_of(layer, rgb, 1.0f), text, nullptr, wrap * ui->scale);
}

float ui_text_width(ui_style style, const char *text)
{
    ImFont *font = ui->fonts[style];
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text).x / ui->scale;
}

float ui_text_height(ui_style style, float wrap, const char *text)
{
    ImFont *font = ui->fonts[style];
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap * ui->scale, text).y / ui->scale;
}

void ui_clip(const ui_box *box)
{
    if (box != nullptr) {
        ImGui::GetWindowDrawList()->PushClipRect(at(box->x, box->y), at(box->x + box->width, box->y + box->height),
                                                 true);
    } else {
        ImGui::GetWindowDrawList()->PopClipRect();
    }
}
