/*
 * Draws a text as a PNG with transparency: shaped, in both directions, with a font for each script and emoji in colour.
 *
 *   draw-text --line PIXELS --width PIXELS --height PIXELS [--lines N] [--font Sans|Serif|Mono] [--bold] [--align left|center|right]
 *             [--color RRGGBBAA] [--outline RRGGBBAA] [--box RRGGBBAA] [--opacity PERCENT]
 *
 * The text is stdin, in UTF-8, and never markup. It wraps at --width, and ends with an ellipsis after --lines lines. The picture goes to
 * stdout and is at most --height pixels high. A line on stderr, "frame LEFT TOP WIDTH HEIGHT", says where in it the box of the text is,
 * which does not change with what the text's letters look like. A text without anything visible draws nothing.
 *
 * The text is a stranger's: native/confine.c leaves this program libraries and fonts alone. Only Debian's Noto fonts are used, so that the
 * same text gives the same picture on each machine.
 */
#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 65536, MAX_SIDE = 8192 };

/* scripts/build-draw-text makes fonts.h of scripts/image-fonts: a line FONT("folder/file") for each file. */
static const char FONTS[] =
    "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'fonts.dtd'><fontconfig>"
    "<dir>/usr/share/fonts/truetype/noto</dir><dir>/usr/share/fonts/opentype/noto</dir>"
    "<cachedir>/var/cache/fontconfig</cachedir>"
    "<selectfont><rejectfont><glob>*</glob></rejectfont>"
#define FONT(file) "<acceptfont><glob>/usr/share/fonts/" file "</glob></acceptfont>"
#include "fonts.h"
    "</selectfont>"
    /* Pango asks for this family where characters are emoji. */
    "<match target='pattern'><test name='family'><string>emoji</string></test>"
    "<edit name='family' mode='prepend' binding='strong'><string>Noto Color Emoji</string></edit></match>"
    "<match target='pattern'><edit name='family' mode='append_last'>"
    "<string>Noto Sans</string><string>Noto Sans Symbols</string><string>Noto Sans Symbols2</string></edit></match>"
    /* Pictures of emoji have one size, and are scaled. */
    "<match target='font'><test name='outline'><bool>false</bool></test><edit name='matrix' mode='assign'><times><name>matrix</name>"
    "<matrix><divide><name target='pattern'>pixelsize</name><name target='font'>pixelsize</name></divide><double>0</double>"
    "<double>0</double><divide><name target='pattern'>pixelsize</name><name target='font'>pixelsize</name></divide></matrix></times>"
    "</edit></match>"
    /* A font without a bold form is made heavier. */
    "<match target='font'><test name='weight' compare='less_eq'><const>medium</const></test>"
    "<test target='pattern' name='weight' compare='more_eq'><const>bold</const></test>"
    "<test name='outline'><bool>true</bool></test><edit name='embolden' mode='assign'><bool>true</bool></edit></match>"
    "</fontconfig>";

struct options {
  int line, width, height, lines, bold, opacity;
  const char *font, *align;
  guint32 color, outline, box;
};

static void fail(const char *what) {
  fprintf(stderr, "draw-text: %s\n", what);
  exit(2);
}

static int parse_number(const char *word, int least, int most) {
  char *end;
  long value = strtol(word, &end, 10);
  if (*word == 0 || *end != 0 || value < least || value > most) fail("an option has a wrong number");
  return (int)value;
}

static guint32 parse_color(const char *word) {
  char *end;
  unsigned long value = strtoul(word, &end, 16);
  if (strlen(word) != 8 || *end != 0) fail("a color is RRGGBBAA");
  return (guint32)value;
}

static struct options parse_options(int count, char **words) {
  struct options is = {.lines = 6, .opacity = 100, .font = "Sans", .align = "left", .color = 0xFFFFFFFF};
  for (int at = 1; at < count; at++) {
    const char *word = words[at];
    if (strcmp(word, "--bold") == 0) {
      is.bold = 1;
      continue;
    }
    if (at + 1 == count) fail("an option lacks its value");
    const char *value = words[++at];
    if (strcmp(word, "--line") == 0) is.line = parse_number(value, 1, MAX_SIDE);
    else if (strcmp(word, "--width") == 0) is.width = parse_number(value, 1, MAX_SIDE);
    else if (strcmp(word, "--height") == 0) is.height = parse_number(value, 1, MAX_SIDE);
    else if (strcmp(word, "--lines") == 0) is.lines = parse_number(value, 1, 100);
    else if (strcmp(word, "--opacity") == 0) is.opacity = parse_number(value, 1, 100);
    else if (strcmp(word, "--font") == 0) is.font = value;
    else if (strcmp(word, "--align") == 0) is.align = value;
    else if (strcmp(word, "--color") == 0) is.color = parse_color(value);
    else if (strcmp(word, "--outline") == 0) is.outline = parse_color(value);
    else if (strcmp(word, "--box") == 0) is.box = parse_color(value);
    else fail("an option is unknown");
  }
  if (is.line == 0 || is.width == 0 || is.height == 0) fail("--line, --width and --height are needed");
  return is;
}

static char *read_text(void) {
  static char bytes[MAX_TEXT_BYTES];
  size_t length = fread(bytes, 1, sizeof bytes, stdin);
  return g_utf8_make_valid(bytes, (gssize)length);
}

static PangoFontMap *open_fonts(void) {
  FcConfig *config = FcConfigCreate();
  if (!FcConfigParseAndLoadFromMemory(config, (const FcChar8 *)FONTS, FcTrue)) fail("the list of fonts cannot be read");
  if (!FcConfigBuildFonts(config) || FcConfigGetFonts(config, FcSetSystem)->nfont == 0) fail("its fonts are missing: install fonts-noto-core, fonts-noto-cjk, fonts-noto-mono and fonts-noto-color-emoji");
  /* Otherwise the libraries read the machine's own configuration too. */
  FcConfigSetCurrent(config);
  PangoFontMap *map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
  pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(map), config);
  return map;
}

/* Returns the font in which a line of Latin letters is so many pixels high. */
static PangoFontDescription *choose_font(PangoContext *context, const struct options *is) {
  char family[64];
  snprintf(family, sizeof family, "Noto %s", strcmp(is->font, "Mono") == 0 ? "Sans Mono" : strcmp(is->font, "Serif") == 0 ? "Serif" : "Sans");
  PangoFontDescription *font = pango_font_description_new();
  pango_font_description_set_family(font, family);
  if (is->bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  pango_font_description_set_absolute_size(font, 1000.0 * PANGO_SCALE);
  PangoFontMetrics *metrics = pango_context_get_metrics(context, font, NULL);
  double height = (pango_font_metrics_get_ascent(metrics) + pango_font_metrics_get_descent(metrics)) / (double)PANGO_SCALE;
  pango_font_metrics_unref(metrics);
  pango_font_description_set_absolute_size(font, 1000.0 * is->line / height * PANGO_SCALE);
  return font;
}

/* Returns where a paragraph is among others: 0 left, 1 in the middle, 2 right. In a script from right to left, it begins at the right. */
static int find_side(PangoLayout *layout, const struct options *is) {
  if (strcmp(is->align, "center") == 0) return 1;
  return strcmp(is->align, "right") == 0 || pango_layout_get_direction(layout, 0) == PANGO_DIRECTION_RTL ? 2 : 0;
}

/* Lays out one paragraph in at most `lines` lines. */
static PangoLayout *lay_out(PangoContext *context, const PangoFontDescription *font, const struct options *is, const char *text, int lines) {
  PangoLayout *layout = pango_layout_new(context);
  pango_layout_set_font_description(layout, font);
  pango_layout_set_text(layout, text, -1);
  pango_layout_set_width(layout, is->width * PANGO_SCALE);
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_height(layout, -lines);
  PangoAttrList *attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
  int side = find_side(layout, is), is_rtl = pango_layout_get_direction(layout, 0) == PANGO_DIRECTION_RTL;
  /* Pango's left is the side where a paragraph begins. */
  pango_layout_set_alignment(layout, side == 1 ? PANGO_ALIGN_CENTER : side == 2 && !is_rtl ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
  return layout;
}

struct text { PangoLayout *layouts[100]; int lefts[100], tops[100]; int count; };
struct area { int left, top, right, bottom; };

static void join(struct area *all, PangoRectangle part, int left, int top) {
  if (part.width <= 0 || part.height <= 0) return;
  if (part.x + left < all->left) all->left = part.x + left;
  if (part.y + top < all->top) all->top = part.y + top;
  if (part.x + left + part.width > all->right) all->right = part.x + left + part.width;
  if (part.y + top + part.height > all->bottom) all->bottom = part.y + top + part.height;
}

/* Lays out paragraphs until the lines are used up. One that others would follow ends with an ellipsis. */
static struct text lay_out_all(PangoContext *context, const struct options *is, char *words) {
  struct text text = {.count = 0};
  PangoFontDescription *font = choose_font(context, is);
  char **paragraphs = g_strsplit(words, "\n", 101);
  int left = is->lines;
  for (char **at = paragraphs; *at && left > 0; at++) {
    PangoLayout *layout = lay_out(context, font, is, *at, left);
    int lines = pango_layout_get_line_count(layout);
    if (lines >= left && at[1]) {
      g_object_unref(layout);
      char *cut = g_strconcat(*at, "…", NULL);
      layout = lay_out(context, font, is, cut, left);
      lines = left;
      g_free(cut);
    }
    text.layouts[text.count++] = layout;
    left -= lines;
  }
  return text;
}

/* Puts the paragraphs below each other. Measures what is drawn (`ink`), and the lines with their spacing (`box`). */
static void arrange(struct text *text, const struct options *is, struct area *ink, struct area *box) {
  int width = 0, top = 0;
  PangoRectangle drawn, logical;
  for (int n = 0; n < text->count; n++) {
    pango_layout_get_pixel_extents(text->layouts[n], NULL, &logical);
    if (logical.width > width) width = logical.width;
  }
  for (int n = 0; n < text->count; n++) {
    pango_layout_get_pixel_extents(text->layouts[n], &drawn, &logical);
    text->lefts[n] = find_side(text->layouts[n], is) * (width - logical.width) / 2 - logical.x;
    text->tops[n] = top;
    join(ink, drawn, text->lefts[n], top);
    join(box, logical, text->lefts[n], top);
    top += logical.height;
  }
}

static void set_color(cairo_t *to, guint32 color) {
  cairo_set_source_rgba(to, (color >> 24) / 255.0, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0, (color & 255) / 255.0);
}

static int is_emoji(PangoFont *font) {
  FcBool color = FcFalse;
  FcPattern *pattern = PANGO_IS_FC_FONT(font) ? pango_fc_font_get_pattern(PANGO_FC_FONT(font)) : NULL;
  return pattern && FcPatternGetBool(pattern, FC_COLOR, 0, &color) == FcResultMatch && color;
}

/* Adds the shapes of the letters. An emoji is a picture, and cairo would trace each of its pixels: it gets no outline. */
static void add_shapes(cairo_t *to, PangoLayout *layout, int left, int top) {
  PangoLayoutIter *at = pango_layout_get_iter(layout);
  do {
    PangoLayoutRun *run = pango_layout_iter_get_run_readonly(at);
    if (!run || is_emoji(run->item->analysis.font)) continue;
    PangoRectangle place;
    pango_layout_iter_get_run_extents(at, NULL, &place);
    cairo_move_to(to, left + place.x / (double)PANGO_SCALE, top + pango_layout_iter_get_baseline(at) / (double)PANGO_SCALE);
    pango_cairo_glyph_string_path(to, run->item->analysis.font, run->glyphs);
  } while (pango_layout_iter_next_run(at));
  pango_layout_iter_free(at);
}

static void paint(cairo_t *to, const struct options *is, const struct text *text, struct area box, double outline) {
  cairo_push_group(to);
  if (is->box & 255) {
    set_color(to, is->box);
    cairo_rectangle(to, box.left, box.top, box.right - box.left, box.bottom - box.top);
    cairo_fill(to);
  }
  for (int n = 0; outline > 0 && n < text->count; n++) {
    add_shapes(to, text->layouts[n], text->lefts[n], text->tops[n]);
    set_color(to, is->outline);
    cairo_set_line_width(to, 2 * outline);
    cairo_set_line_join(to, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(to);
  }
  set_color(to, is->color);
  for (int n = 0; n < text->count; n++) {
    cairo_move_to(to, text->lefts[n], text->tops[n]);
    pango_cairo_show_layout(to, text->layouts[n]);
  }
  cairo_pop_group_to_source(to);
  cairo_paint_with_alpha(to, is->opacity / 100.0);
}

static cairo_status_t write_out(void *closure, const unsigned char *bytes, unsigned int length) {
  (void)closure;
  return fwrite(bytes, 1, length, stdout) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static int at_least(int a, int b) { return a > b ? a : b; }
static int at_most(int a, int b) { return a < b ? a : b; }

int main(int count, char **words) {
  struct options is = parse_options(count, words);
  PangoContext *context = pango_font_map_create_context(open_fonts());
  pango_context_set_round_glyph_positions(context, FALSE);
  cairo_font_options_t *rendering = cairo_font_options_create();
  cairo_font_options_set_antialias(rendering, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(rendering, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(rendering, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context, rendering);

  struct area ink = {1 << 30, 1 << 30, -(1 << 30), -(1 << 30)}, box = ink;
  struct text text = lay_out_all(context, &is, read_text());
  arrange(&text, &is, &ink, &box);
  if (ink.left >= ink.right) return 0;
  double outline = is.outline & 255 ? at_least(1, is.line / 16) : 0;
  int padding = is.box & 255 ? at_least(1, is.line / 5) : 0;
  box = (struct area){box.left - 2 * padding, box.top - padding, box.right + 2 * padding, box.bottom + padding};
  /* Marks may pile up without an end: the picture is cut around the box then. */
  int reach = at_least(0, (is.height - (box.bottom - box.top)) / 2), edge = (int)outline + 1;
  struct area all = {at_least(at_most(box.left, ink.left - edge), box.left - is.line), at_least(at_most(box.top, ink.top - edge), box.top - reach),
                     at_most(at_least(box.right, ink.right + edge), box.right + is.line), at_most(at_least(box.bottom, ink.bottom + edge), box.bottom + reach)};
  int width = at_most(all.right - all.left, MAX_SIDE), height = at_most(all.bottom - all.top, is.height);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *to = cairo_create(surface);
  cairo_translate(to, -all.left, -all.top);
  paint(to, &is, &text, box, outline);
  if (cairo_status(to) != CAIRO_STATUS_SUCCESS) fail(cairo_status_to_string(cairo_status(to)));
  if (cairo_surface_write_to_png_stream(surface, write_out, NULL) != CAIRO_STATUS_SUCCESS || fflush(stdout) != 0) fail("the picture cannot be written");
  fprintf(stderr, "frame %d %d %d %d\n", box.left - all.left, box.top - all.top, box.right - box.left, box.bottom - box.top);
  return 0;
}
