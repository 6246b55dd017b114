/** Writes CSV (RFC 4180). Pure: no I/O, no clock. */

/** Quotes a text that a person typed. One that a spreadsheet would take for a formula gets an apostrophe. */
export const quoteCsv = (text: string): string => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;

/** Returns the rows as lines, the header first. Texts in them are quoted already, where they need that. */
export const formatCsv = (header: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [header, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
