/** Draws the badge of a stream: an SVG image of two texts, which any page may show. Pure: no I/O, no clock. */
import type { AirPeriod, Uptime } from './compute.ts';

export const MAX_BADGE_DAYS = 90;

export const BADGE_SHOWS = ['uptime', 'status'] as const;
export type BadgeShow = (typeof BADGE_SHOWS)[number];

interface Badge {
  label: string;
  value: string;
  color: string;
}

/** White text on each has a contrast of at least 4.5 (WCAG 2.2, 1.4.3). */
const COLORS = { good: '#2e7d32', fair: '#8a6100', bad: '#c62828', none: '#5c5c5c' };

const STATUSES: Record<AirPeriod['state'], Pick<Badge, 'value' | 'color'>> = {
  onAir: { value: 'on air', color: COLORS.good },
  offAir: { value: 'off air', color: COLORS.bad },
  unwanted: { value: 'stopped', color: COLORS.none },
  unknown: { value: 'unknown', color: COLORS.none },
};

export const describeStatus = (state: AirPeriod['state']): Badge => ({ label: 'stream', ...STATUSES[state] });

export function describeUptime({ uptimePercent }: Pick<Uptime, 'uptimePercent'>, days: number): Badge {
  const label = `uptime ${days}d`;
  if (uptimePercent === null) return { label, value: 'no data', color: COLORS.none };
  const color = uptimePercent >= 99.5 ? COLORS.good : uptimePercent >= 95 ? COLORS.fair : COLORS.bad;
  // Rounded down: less than 100 % never reads as 100 %.
  return { label, value: `${Math.floor(uptimePercent * 100 + 1e-6) / 100} %`, color };
}

/** Average width of a letter in the fonts below, at 11 pixels. `textLength` makes the text fit whatever font there is. */
const LETTER = 6.6;
const PADDING = 6;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (found) => ENTITIES[found] ?? '');

export function drawBadge({ label, value, color }: Badge): string {
  const [labelWidth, valueWidth] = [label, value].map((text) => Math.round(text.length * LETTER) + 2 * PADDING) as [
    number,
    number,
  ];
  const width = labelWidth + valueWidth;
  const title = escapeXml(`${label}: ${value}`);
  const write = (text: string, x: number, box: number) =>
    `<text x="${x + box / 2}" y="14" textLength="${box - 2 * PADDING}">${escapeXml(text)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="20" rx="3" fill="${color}"/>`,
    `<path d="M3 0H${labelWidth}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0Z" fill="#333"/>`,
    '<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">',
    write(label, 0, labelWidth),
    write(value, labelWidth, valueWidth),
    '</g></svg>',
  ].join('');
}
