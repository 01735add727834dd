/*
 * Dear ImGui behind ui.h. The only C++ file of the project: no decisions are made here, only how things look.
 */
#include "viewer/ui.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <backends/imgui_impl_opengl3.h>

#include <initializer_list>

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

const ImU32 series_colours[] = {IM_COL32(92, 160, 236, 255),  IM_COL32(102, 196, 152, 255), IM_COL32(240, 190, 80, 255),
                                IM_COL32(232, 124, 92, 255),  IM_COL32(168, 132, 226, 255), IM_COL32(96, 196, 208, 255),
                                IM_COL32(224, 120, 172, 255), IM_COL32(150, 160, 174, 255)};

struct item {
    ImGuiID key;
    ImRect box;
};

struct state {
    float scale = 1.0f;
    ImFont *fonts[UI_STYLE_COUNT] = {};
    ImVector<item> items, last_items;
    bool hand = false;
    float backdrop = 0.0f;
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
    ui->last_items.swap(ui->items);
    ui->items.resize(0);
    ui->hand = false;
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
    default: return ui->hand ? UI_CURSOR_HAND : UI_CURSOR_ARROW;
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
    flags |= kind == UI_BARE ? ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoInputs : 0;
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

float ui_window_height(void) { return ImGui::GetWindowHeight() / ui->scale; }

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

void ui_tabs(const char *const *labels, uint32_t count, uint32_t *chosen)
{
    ImDrawList *list = ImGui::GetWindowDrawList();
    float total = ImGui::GetContentRegionAvail().x, height = px(32.0f), left = ImGui::GetCursorScreenPos().x;
    float top = ImGui::GetCursorScreenPos().y, words = 0.0f;
    ImGui::PushFont(ui->fonts[UI_STRONG]);
    for (uint32_t i = 0; i < count; i++) {
        words += ImGui::CalcTextSize(labels[i]).x;
    }
    float room = (total - words) / (float)count, x = left;
    list->AddLine(ImVec2(left, top + height), ImVec2(left + total, top + height), line_fill, px(1.0f));
    for (uint32_t i = 0; i < count; i++) {
        ImVec2 size = ImGui::CalcTextSize(labels[i]);
        float width = size.x + room;
        ImGui::SetCursorScreenPos(ImVec2(x, top));
        ImGui::PushID(labels[i]);
        if (ImGui::InvisibleButton("tab", ImVec2(width, height))) {
            *chosen = i;
        }
        ImGui::PopID();
        keep_last(labels[i]);
        bool hovered = ImGui::IsItemHovered(), lit = *chosen == i;
        list->AddText(ImVec2(x + 0.5f * room, top + 0.5f * (height - size.y)), lit || hovered ? ink : faint_ink,
                      labels[i]);
        if (lit) {
            list->AddRectFilled(ImVec2(x + 0.25f * room, top + height - px(2.0f)),
                                ImVec2(x + width - 0.25f * room, top + height + px(1.0f)), accent, px(1.0f));
        }
        x += width;
    }
    ImGui::PopFont();
    ImGui::SetCursorScreenPos(ImVec2(left, top + height + px(10.0f)));
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

void ui_row_text(ui_style style, float height, const char *text)
{
    ImFont *font = ui->fonts[style];
    ImVec2 at = ImGui::GetCursorScreenPos(), size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text);
    ImGui::Dummy(ImVec2(size.x, px(height)));
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, ImVec2(at.x, at.y + floorf(0.5f * (px(height) - size.y))),
                                        style_colour(style), text);
}

void ui_text_wrapped(ui_style style, const char *text)
{
    push_style(style);
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    pop_style();
}

void ui_heading(const char *text)
{
    ImGui::Dummy(ImVec2(0.0f, px(4.0f)));
    push_style(UI_STRONG);
    ImGui::TextUnformatted(text);
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

bool ui_toggle(const char *label, bool *on)
{
    float height = px(20.0f), width = px(34.0f);
    ImVec2 at = ImGui::GetCursorScreenPos(), words = ImGui::CalcTextSize(label);
    ImGui::PushID(label);
    bool pressed = ImGui::InvisibleButton("toggle", ImVec2(width + px(9.0f) + words.x, height));
    ImGui::PopID();
    keep_last(label);
    *on = pressed ? !*on : *on;
    float alpha = ImGui::GetStyle().Alpha;
    ImDrawList *list = ImGui::GetWindowDrawList();
    ImU32 fill = *on ? accent : ImGui::IsItemHovered() ? item_hovered : item_fill;
    list->AddRectFilled(ImVec2(at.x, at.y + px(1.0f)), ImVec2(at.x + width, at.y + height - px(1.0f)),
                        ImGui::GetColorU32(colour(fill)), 0.5f * height);
    list->AddCircleFilled(ImVec2(at.x + (*on ? width - 0.5f * height : 0.5f * height), at.y + 0.5f * height),
                          0.5f * height - px(4.0f),
                          ImGui::GetColorU32(colour(*on ? IM_COL32(255, 255, 255, 255) : faint_ink)), 24);
    list->AddText(ImVec2(at.x + width + px(9.0f), at.y + 0.5f * (height - words.y)),
                  ImGui::GetColorU32(colour(alpha < 1.0f ? faint_ink : ink)), label);
    return pressed;
}

namespace
{

/* The way of a slider, below its name and value. `moved`: its value is not what it was at the start; *reset: it is to be again. */
bool slider(const char *label, const char *shown, ImGuiDataType type, void *value, const void *low, const void *high,
            const char *format, float share, ImGuiSliderFlags flags, bool moved, bool *reset)
{
    float width = ImGui::GetContentRegionAvail().x, height = px(18.0f);
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList *list = ImGui::GetWindowDrawList();
    ImGui::PushFont(ui->fonts[UI_SMALL]);
    ImVec2 right = ImGui::CalcTextSize(shown);
    list->AddText(ui->fonts[UI_NORMAL], ui->fonts[UI_NORMAL]->FontSize, at, ImGui::GetColorU32(ImGuiCol_Text), label);
    list->AddText(ImVec2(at.x + width - right.x - (moved ? px(20.0f) : 0.0f), at.y + px(2.0f)),
                  ImGui::GetColorU32(ImGuiCol_Text), shown);
    if (moved) {
        char name[96];
        snprintf(name, sizeof name, "Reset %s", label);
        ImGui::SetCursorScreenPos(ImVec2(at.x + width - px(16.0f), at.y + px(1.0f)));
        *reset = ui_icon_button(name, UI_ICON_RESET, false);
        ui_tooltip("Back to the start's value");
    }
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + px(18.0f)));
    ImGui::PushID(label);
    ImGui::SetNextItemWidth(width);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(6.0f), px(1.0f)));
    ImGuiID id = ImGui::GetID("##way");
    bool typing = ImGui::TempInputIsActive(id);
    /* While it is no text field, the item is only felt; what is seen is drawn below. */
    ImVec4 nothing(0, 0, 0, 0);
    for (ImGuiCol c : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_SliderGrab,
                       ImGuiCol_SliderGrabActive, ImGuiCol_Text}) {
        ImGui::PushStyleColor(c, typing ? ImGui::GetStyle().Colors[c] : nothing);
    }
    bool changed = ImGui::SliderScalar("##way", type, value, low, high, format, flags);
    ImGui::PopStyleColor(6);
    ImGui::PopStyleVar();
    ImGui::PopID();
    ImGui::PopFont();
    keep_last(label);
    if (!ImGui::TempInputIsActive(id)) {
        bool lit = ImGui::IsItemActive() || ImGui::IsItemHovered();
        float y = ImGui::GetItemRectMin().y + 0.5f * height - px(1.0f), knob = px(6.0f);
        float x = at.x + knob + (width - 2.0f * knob) * fminf(fmaxf(share, 0.0f), 1.0f);
        float alpha = ImGui::GetStyle().Alpha;
        ImU32 fill = ImGui::GetColorU32(colour(alpha < 1.0f ? faint_ink : accent));
        list->AddRectFilled(ImVec2(at.x, y - px(2.0f)), ImVec2(at.x + width, y + px(2.0f)),
                            ImGui::GetColorU32(colour(item_hovered)), px(2.0f));
        list->AddRectFilled(ImVec2(at.x, y - px(2.0f)), ImVec2(x, y + px(2.0f)), fill, px(2.0f));
        list->AddCircleFilled(ImVec2(x, y), lit ? knob + px(1.0f) : knob, lit ? IM_COL32(255, 255, 255, 255) : fill,
                              24);
    }
    return changed;
}

} // namespace

bool ui_slider(const char *label, const char *unit, float *value, float start, float low, float high, bool logarithmic)
{
    bool reset = false;
    char shown[64], number[32];
    float size = fabsf(*value);
    snprintf(number, sizeof number, size >= 100.0f ? "%.0f" : size >= 10.0f ? "%.1f" : "%.2f", (double)*value);
    snprintf(shown, sizeof shown, "%s%s%s", number, unit[0] != '\0' ? " " : "", unit);
    float share = (*value - low) / (high - low);
    if (logarithmic) {
        share = *value > low ? logf(*value / low) / logf(high / low) : 0.0f;
    }
    ImGuiSliderFlags flags = logarithmic ? ImGuiSliderFlags_Logarithmic : 0;
    bool changed =
        slider(label, shown, ImGuiDataType_Float, value, &low, &high, "%.4g", share, flags, *value != start, &reset);
    *value = reset ? start : *value;
    return changed || reset;
}

bool ui_slider_count(const char *label, int *value, int start, int low, int high)
{
    bool reset = false;
    char shown[32];
    snprintf(shown, sizeof shown, "%d", *value);
    float share = high > low ? (float)(*value - low) / (float)(high - low) : 0.0f;
    bool changed = slider(label, shown, ImGuiDataType_S32, value, &low, &high, "%d", share,
                          ImGuiSliderFlags_AlwaysClamp, *value != start, &reset);
    *value = reset ? start : *value;
    return changed || reset;
}

bool ui_choice(const char *label, const char *const *words, uint32_t count, uint32_t *chosen)
{
    ImVec2 at = ImGui::GetCursorScreenPos();
    float width = ImGui::GetContentRegionAvail().x, height = px(label[0] != '#' ? 26.0f : 30.0f),
          each = width / (float)count, text = px(20.0f);
    ImDrawList *list = ImGui::GetWindowDrawList();
    if (label[0] != '#') {
        list->AddText(at, ImGui::GetColorU32(ImGuiCol_Text), label);
    } else {
        text = 0.0f;
    }
    float top = at.y + text;
    list->AddRectFilled(ImVec2(at.x, top), ImVec2(at.x + width, top + height), ImGui::GetColorU32(colour(item_fill)),
                        px(4.0f));
    bool changed = false;
    ImGui::PushFont(ui->fonts[UI_SMALL]);
    ImGui::PushID(label);
    for (uint32_t i = 0; i < count; i++) {
        ImVec2 from(at.x + each * (float)i, top), to(at.x + each * (float)(i + 1), top + height);
        ImGui::SetCursorScreenPos(from);
        if (ImGui::InvisibleButton(words[i], ImVec2(each, height))) {
            changed = *chosen != i;
            *chosen = i;
        }
        keep_last(words[i]);
        ImVec2 size = ImGui::CalcTextSize(words[i]);
        if (*chosen == i) {
            list->AddRectFilled(ImVec2(from.x + px(2.0f), from.y + px(2.0f)), ImVec2(to.x - px(2.0f), to.y - px(2.0f)),
                                ImGui::GetColorU32(colour(accent_dark)), px(3.0f));
        }
        bool lit = *chosen == i || ImGui::IsItemHovered();
        list->AddText(ImVec2(0.5f * (from.x + to.x - size.x), 0.5f * (from.y + to.y - size.y)),
                      ImGui::GetColorU32(colour(lit ? ink : faint_ink)), words[i]);
    }
    ImGui::PopID();
    ImGui::PopFont();
    ImGui::SetCursorScreenPos(ImVec2(at.x, top));
    ImGui::Dummy(ImVec2(width, height));
    return changed;
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

bool ui_entry(const char *name, const char *sentence, bool chosen)
{
    float width = ImGui::GetContentRegionAvail().x, pad = px(9.0f), wrap = width - 2.0f * pad;
    ImFont *strong = ui->fonts[UI_STRONG], *small = ui->fonts[UI_SMALL];
    ImVec2 words = small->CalcTextSizeA(small->FontSize, FLT_MAX, wrap, sentence);
    float height = strong->FontSize + (sentence[0] != '\0' ? words.y + px(2.0f) : 0.0f) + 1.4f * pad;
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(name);
    bool pressed = ImGui::InvisibleButton("entry", ImVec2(width, height));
    ImGui::PopID();
    keep_last(name);
    ImDrawList *list = ImGui::GetWindowDrawList();
    ImVec2 to(at.x + width, at.y + height);
    if (chosen || ImGui::IsItemHovered()) {
        list->AddRectFilled(at, to, chosen ? IM_COL32(38, 58, 86, 255) : item_fill, px(4.0f));
    }
    if (chosen) {
        list->AddRectFilled(at, ImVec2(at.x + px(3.0f), to.y), accent, px(4.0f), ImDrawFlags_RoundCornersLeft);
    }
    list->AddText(strong, strong->FontSize, ImVec2(at.x + pad, at.y + 0.7f * pad), ink, name);
    list->AddText(small, small->FontSize, ImVec2(at.x + pad, at.y + 0.7f * pad + strong->FontSize + px(2.0f)),
                  chosen ? IM_COL32(178, 190, 206, 255) : faint_ink, sentence, nullptr, wrap);
    return pressed;
}

void ui_scroll_here(void)
{
    ImGuiWindow *window = ImGui::GetCurrentWindow();
    ImGui::ScrollToBringRectIntoView(window, ImRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax()));
}

namespace
{

void draw_icon(ImDrawList *list, ui_icon icon, ImVec2 c, float r, ImU32 fill)
{
    float w = fmaxf(0.26f * r, 1.0f);
    switch (icon) {
    case UI_ICON_PLAY:
        list->AddTriangleFilled(ImVec2(c.x - 0.7f * r, c.y - r), ImVec2(c.x + r, c.y), ImVec2(c.x - 0.7f * r, c.y + r),
                                fill);
        break;
    case UI_ICON_PAUSE:
        list->AddRectFilled(ImVec2(c.x - 0.75f * r, c.y - r), ImVec2(c.x - 0.2f * r, c.y + r), fill, 1.0f);
        list->AddRectFilled(ImVec2(c.x + 0.2f * r, c.y - r), ImVec2(c.x + 0.75f * r, c.y + r), fill, 1.0f);
        break;
    case UI_ICON_STEP:
    case UI_ICON_BACK: {
        float s = icon == UI_ICON_STEP ? 1.0f : -1.0f;
        ImVec2 a(c.x - s * 0.8f * r, c.y - 0.9f * r), b(c.x - s * 0.8f * r, c.y + 0.9f * r),
            tip(c.x + s * 0.6f * r, c.y);
        list->AddTriangleFilled(a, s > 0 ? tip : b, s > 0 ? b : tip, fill);
        list->AddRectFilled(ImVec2(c.x + s * 0.6f * r - 0.5f * w, c.y - 0.9f * r),
                            ImVec2(c.x + s * 0.6f * r + 0.5f * w, c.y + 0.9f * r), fill);
        break;
    }
    case UI_ICON_RESTART:
    case UI_ICON_RESET: {
        list->PathArcTo(c, 0.85f * r, -0.9f, 4.1f, 24);
        list->PathStroke(fill, 0, w);
        ImVec2 tip(c.x + 0.85f * r * cosf(-0.9f), c.y + 0.85f * r * sinf(-0.9f));
        list->AddTriangleFilled(ImVec2(tip.x - 0.75f * r, tip.y - 0.05f * r),
                                ImVec2(tip.x + 0.3f * r, tip.y - 0.6f * r), ImVec2(tip.x + 0.2f * r, tip.y + 0.5f * r),
                                fill);
        break;
    }
    case UI_ICON_RECORD: list->AddCircleFilled(c, 0.85f * r, fill, 24); break;
    case UI_ICON_STOP:
        list->AddRectFilled(ImVec2(c.x - 0.75f * r, c.y - 0.75f * r), ImVec2(c.x + 0.75f * r, c.y + 0.75f * r), fill,
                            1.0f);
        break;
    case UI_ICON_CAMERA:
        list->AddRectFilled(ImVec2(c.x - r, c.y - 0.6f * r), ImVec2(c.x + r, c.y + 0.8f * r), fill, 0.25f * r);
        list->AddRectFilled(ImVec2(c.x - 0.4f * r, c.y - 0.95f * r), ImVec2(c.x + 0.4f * r, c.y - 0.4f * r), fill,
                            0.15f * r);
        list->AddCircleFilled(ImVec2(c.x, c.y + 0.1f * r), 0.42f * r, item_fill, 20);
        break;
    case UI_ICON_HELP: {
        ImFont *font = ui->fonts[UI_STRONG];
        ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, "?");
        list->AddText(font, font->FontSize, ImVec2(c.x - 0.5f * size.x, c.y - 0.5f * size.y), fill, "?");
        break;
    }
    }
}

} // namespace

bool ui_icon_button(const char *label, ui_icon icon, bool lit)
{
    bool small = icon == UI_ICON_RESET;
    float size = px(small ? 16.0f : 30.0f);
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(label);
    bool pressed = ImGui::InvisibleButton("icon", ImVec2(size, size));
    ImGui::PopID();
    keep_last(label);
    bool hovered = ImGui::IsItemHovered();
    ImDrawList *list = ImGui::GetWindowDrawList();
    if (!small) {
        ImU32 fill = lit ? accent_dark : hovered ? item_hovered : item_fill;
        list->AddRectFilled(at, ImVec2(at.x + size, at.y + size), ImGui::GetColorU32(colour(fill)), px(5.0f));
    }
    ImU32 drawn = icon == UI_ICON_RECORD || icon == UI_ICON_STOP ? IM_COL32(236, 92, 84, 255)
                  : small && !hovered                            ? faint_ink
                                                                 : ink;
    draw_icon(list, icon, ImVec2(at.x + 0.5f * size, at.y + 0.5f * size), px(small ? 5.0f : 7.0f),
              ImGui::GetColorU32(colour(drawn)));
    return pressed;
}

bool ui_time_bar(const char *label, float width, float first, float last, float *now)
{
    float length = px(width), height = px(30.0f);
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(label);
    ImGui::InvisibleButton("time", ImVec2(length, height));
    ImGui::PopID();
    keep_last(label);
    bool held = ImGui::IsItemActive(), moved = false;
    float knob = px(6.0f), way = length - 2.0f * knob, span = fmaxf(last - first, 1e-6f);
    if (held) {
        float share = fminf(fmaxf((ImGui::GetIO().MousePos.x - at.x - knob) / way, 0.0f), 1.0f);
        float wanted = first + share * span;
        moved = wanted != *now;
        *now = wanted;
    }
    float y = at.y + 0.5f * height, x = at.x + knob + way * (last > first ? (*now - first) / span : 1.0f);
    ImDrawList *list = ImGui::GetWindowDrawList();
    list->AddRectFilled(ImVec2(at.x, y - px(2.0f)), ImVec2(at.x + length, y + px(2.0f)), item_hovered, px(2.0f));
    list->AddRectFilled(ImVec2(at.x, y - px(2.0f)), ImVec2(x, y + px(2.0f)), accent, px(2.0f));
    list->AddCircleFilled(ImVec2(x, y), held || ImGui::IsItemHovered() ? knob + px(1.0f) : knob,
                          IM_COL32(255, 255, 255, 255), 24);
    return moved;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Graphs
 */

void ui_draw_graph(const ui_graph *g, float height)
{
    ImVec2 at = ImGui::GetCursorScreenPos();
    float width = ImGui::GetContentRegionAvail().x, tall = px(height), step = width / (float)(g->capacity - 1);
    ImGui::Dummy(ImVec2(width, tall));
    ImDrawList *list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, ImVec2(at.x + width, at.y + tall), IM_COL32(22, 24, 29, 255), px(4.0f));
    list->PushClipRect(at, ImVec2(at.x + width, at.y + tall), true);
    for (uint32_t i = 0; i + 1 < g->capacity; i++) {
        uint32_t a = (g->next + i) % g->capacity, b = (g->next + i + 1) % g->capacity;
        float base_a = 0.0f, base_b = 0.0f, x = at.x + step * (float)i;
        for (uint32_t s = 0; s < g->series; s++) {
            float top_a = base_a + g->values[s * g->capacity + a], top_b = base_b + g->values[s * g->capacity + b];
            float bottom = at.y + tall, unit = tall / g->top;
            if (top_a > 0.0f || top_b > 0.0f) {
                list->AddQuadFilled(ImVec2(x, bottom - unit * base_a), ImVec2(x, bottom - unit * top_a),
                                    ImVec2(x + step, bottom - unit * top_b), ImVec2(x + step, bottom - unit * base_b),
                                    series_colours[s % IM_ARRAYSIZE(series_colours)]);
            }
            base_a = top_a;
            base_b = top_b;
        }
    }
    ImFont *font = ui->fonts[UI_SMALL];
    if (g->line > 0.0f && g->line < g->top) {
        float y = at.y + tall * (1.0f - g->line / g->top);
        list->AddLine(ImVec2(at.x, y), ImVec2(at.x + width, y), IM_COL32(255, 255, 255, 90), px(1.0f));
        list->AddText(font, font->FontSize, ImVec2(at.x + px(6.0f), y - font->FontSize - px(1.0f)),
                      IM_COL32(255, 255, 255, 170), g->line_label);
    }
    list->PopClipRect();
    char top[32];
    snprintf(top, sizeof top, "%.3g ms", (double)g->top);
    ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, top);
    list->AddText(font, font->FontSize, ImVec2(at.x + width - size.x - px(6.0f), at.y + px(4.0f)),
                  IM_COL32(255, 255, 255, 170), top);
}

void ui_series_mark(uint32_t series)
{
    float size = px(9.0f);
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(ImVec2(size, px(15.0f)));
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, at.y + px(4.0f)),
                                              ImVec2(at.x + size, at.y + px(4.0f) + size),
                                              series_colours[series % IM_ARRAYSIZE(series_colours)], px(2.0f));
    ImGui::SameLine(0.0f, px(7.0f));
}

/* ------------------------------------------------------------------------------------------------------------------
 * Over the picture
 */

void ui_draw_line(float x0, float y0, float x1, float y1, float width, uint32_t rgb, float opacity)
{
    ImGui::GetBackgroundDrawList()->AddLine(ImVec2(x0 * ui->scale, y0 * ui->scale),
                                            ImVec2(x1 * ui->scale, y1 * ui->scale), from_hex(rgb, opacity),
                                            width * ui->scale);
}

void ui_draw_disc(float x, float y, float radius, uint32_t rgb, float opacity)
{
    ImGui::GetBackgroundDrawList()->AddCircleFilled(ImVec2(x * ui->scale, y * ui->scale), radius * ui->scale,
                                                    from_hex(rgb, opacity), 32);
}

void ui_draw_ring(float x, float y, float radius, float width, uint32_t rgb, float opacity)
{
    ImGui::GetBackgroundDrawList()->AddCircle(ImVec2(x * ui->scale, y * ui->scale), radius * ui->scale,
                                              from_hex(rgb, opacity), 40, width * ui->scale);
}

void ui_draw_box(ui_box box, float corner, uint32_t rgb, float opacity)
{
    ImGui::GetBackgroundDrawList()->AddRectFilled(
        ImVec2(box.x * ui->scale, box.y * ui->scale),
        ImVec2((box.x + box.width) * ui->scale, (box.y + box.height) * ui->scale), from_hex(rgb, opacity),
        corner * ui->scale);
}

void ui_draw_label(float x, float y, ui_style style, uint32_t rgb, const char *text)
{
    ImFont *font = ui->fonts[style];
    ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text);
    ImVec2 at(floorf(x * ui->scale - 0.5f * size.x), floorf(y * ui->scale - 0.5f * size.y));
    ImGui::GetBackgroundDrawList()->AddText(font, font->FontSize, at, from_hex(rgb, 1.0f), text);
}

float ui_text_width(ui_style style, const char *text)
{
    ImFont *font = ui->fonts[style];
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text).x / ui->scale;
}

float ui_line_height(ui_style style) { return ui->fonts[style]->FontSize / ui->scale; }
