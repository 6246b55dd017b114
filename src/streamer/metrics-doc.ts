/** docs/metrics.md, made from the table of the streamer's metrics. Pure: no I/O, no clock. */
import { METRICS } from './metrics.ts';

const HEAD = `# Metrics of a stream

<!-- Made from the table in src/streamer/metrics.ts by \`npm run generate\`; a test fails when it differs from that. -->

Every stream's pod serves these at \`/metrics\` on port 9400, in base units (seconds, bytes). Counters begin at 0 with the
process. What plays is not a metric, because a label with an item's name would make a series for each of them: \`/stats\` on
the same port tells the current and the next item, what could not be played, and the position, as JSON.

`;

const row = (cells: readonly string[], widths: readonly number[]): string =>
  `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;

export function metricsDocument(): string {
  const rows = METRICS.map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  const head = ['name', 'type', 'labels', 'meaning'];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)));
  const line = widths.map((width) => '-'.repeat(width));
  return HEAD + [head, line, ...rows].map((cells) => row(cells, widths)).join('');
}
