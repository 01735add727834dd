/* LIKE_PRINTF(2, 3): the second parameter is a format as printf's, whose arguments begin with the third; compilers that can check them. */
#ifndef LIMBER_SUPPORT_LIKE_PRINTF_H
#define LIMBER_SUPPORT_LIKE_PRINTF_H

#if defined(__MINGW32__) && !defined(__clang__) &&                                                                     \
    !defined(LMI_PLAIN) /* or the formats of Microsoft's old library are meant */
#define LIKE_PRINTF(format_index, first_index) __attribute__((format(gnu_printf, format_index, first_index)))
#elif (defined(__GNUC__) || defined(__clang__)) && !defined(LMI_PLAIN) /* LMI_PLAIN: test/repository/check_plain */
#define LIKE_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define LIKE_PRINTF(format_index, first_index)
#endif

#endif
