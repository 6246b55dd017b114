/** Formats tables of plain text. Pure: no I/O, no clock. */

/** Each column as wide as its widest cell; a line for each row. */
export const formatColumns = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]?.map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, n) => cell.padEnd(widths[n] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
};
