/**
 * Reads an additional font for letters that ours lack, such as Chinese, Japanese and Korean ones. It is a file of the
 * machine, since those fonts are many times as large as our whole image.
 */
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../../core/settings/settings.ts';
import type { AddedFont } from './pdf.ts';

const SETTING = 'LOOPSTREAM_INVOICE_FONT';

/**
 * Reads the font that a setting names: the path of a TrueType or OpenType file, for a collection with `#` and the name of one of
 * its fonts. undefined where none is set. Throws ConfigError for what is none.
 */
export async function readInvoiceFont(setting: string | undefined): Promise<AddedFont | undefined> {
  if (setting === undefined) return undefined;
  const [, path = '', name] = /^(.*?)(?:#([^#/]+))?$/s.exec(setting) ?? [];
  const bytes = await readFile(path).catch(() => {
    throw new ConfigError(`The file in ${SETTING} cannot be read.`);
  });
  // The library is large: it is loaded at the start only where a font is configured.
  const { canDraw } = await import('./pdf.ts');
  const font = { bytes, name };
  if (canDraw(font)) return font;
  throw new ConfigError(
    `${SETTING} must be the path of a font file (.ttf, .otf). For a collection, append # and the PostScript name of the font.`,
  );
}
