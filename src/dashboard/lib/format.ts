/**
 * Numbers and times as people read them. Whatever is missing is an en dash, so that a column keeps its place.
 * Pure: no I/O, no clock.
 */

export const NONE = '–';

type Maybe = number | null | undefined;
const known = (value: Maybe): value is number => typeof value === 'number' && Number.isFinite(value);

const two = (n: number): string => String(n).padStart(2, '0');

/** Seconds as a running clock: `00:07:09`, and with days in front from one day on: `3d 04:00:12`. */
export function formatUptime(seconds: Maybe): string {
  if (!known(seconds)) return NONE;
  const s = Math.max(0, Math.floor(seconds));
  const days = Math.floor(s / 86_400);
  const clock = `${two(Math.floor(s / 3600) % 24)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  return days > 0 ? `${days}d ${clock}` : clock;
}

/** Seconds in words for screen readers, which read a clock badly: `3 days 4 hours`, `7 minutes`, `9 seconds`. */
export function spokenDuration(seconds: Maybe): string {
  if (!known(seconds)) return 'unknown';
  const s = Math.max(0, Math.floor(seconds));
  const parts: [number, string][] = [
    [Math.floor(s / 86_400), 'day'],
    [Math.floor(s / 3600) % 24, 'hour'],
    [Math.floor(s / 60) % 60, 'minute'],
    [s % 60, 'second'],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  if (first < 0) return '0 seconds';
  return parts
    .slice(first, first + (first >= 2 ? 1 : 2))
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}${n === 1 ? '' : 's'}`)
    .join(' ');
}

/** Kilobits a second: `870 kbps` below 1,000, `4.50 Mbps` from there. */
export function formatBitrate(kbps: Maybe): string {
  if (!known(kbps)) return NONE;
  return kbps < 999.5 ? `${Math.round(kbps)} kbps` : `${(kbps / 1000).toFixed(2)} Mbps`;
}

/** Frames a second with two decimals at most: `30`, `29.97`. */
export function formatFps(fps: Maybe): string {
  return known(fps) ? String(Math.round(fps * 100) / 100) : NONE;
}

/** Milliseconds: `0.3 ms` below ten, `12 ms`, `1.2 s` from one second; the sign is kept. */
export function formatMs(ms: Maybe): string {
  if (!known(ms)) return NONE;
  const size = Math.abs(ms);
  if (size >= 999.5) return `${(ms / 1000).toFixed(1)} s`;
  return `${size < 9.95 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
}

/** A whole number with separators: `12,034`. */
export function formatCount(n: Maybe): string {
  return known(n) ? Math.round(n).toLocaleString('en-US') : NONE;
}

/** Bytes in powers of 1,000: `1.2 GB`. */
export function formatBytes(bytes: Maybe): string {
  if (!known(bytes)) return NONE;
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

const BINARY = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A limit of the account, in powers of 1,024 as limits are set: `5 GiB`; whatever is no bytes is a count. */
export function formatAmount(amount: number, unit: string): string {
  if (unit === 'seconds') return spokenDuration(amount);
  if (unit !== 'bytes') return formatCount(amount);
  const power = amount < 1024 ? 0 : Math.min(BINARY.length - 1, Math.floor(Math.log2(amount) / 10));
  return `${Math.floor((amount / 1024 ** power) * 10) / 10} ${BINARY[power]}`;
}

/** `q_1080p` and `f_30` (or without the prefixes) as `1080p30`'s readable form: `1080p · 30 fps`. */
export function formatProfile(quality: string | undefined, framerate: string | number | undefined): string {
  const q = quality?.replace(/^q_/, '');
  const f = framerate === undefined ? undefined : String(framerate).replace(/^f_/, '');
  return [q, f && `${f} fps`].filter(Boolean).join(' · ') || NONE;
}

/** How long ago: `just now`, `42 s ago`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function formatAgo(then: Date, now: Date): string {
  const s = Math.floor((now.getTime() - then.getTime()) / 1000);
  if (!Number.isFinite(s)) return NONE;
  if (s < 5) return 'just now';
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  const days = Math.floor(s / 86_400);
  return days === 1 ? 'yesterday' : `${days} days ago`;
}

/** Seconds from an RFC 3339 time to now; undefined when the time is missing or unreadable. */
export function secondsSince(then: string | null | undefined, now: number): number | undefined {
  const at = then ? Date.parse(then) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, (now - at) / 1000);
}

/** Seconds of media as players show them: `0:42`, `12:07`, `1:02:03`. */
export function formatLength(seconds: Maybe): string {
  if (!known(seconds)) return NONE;
  const s = Math.max(0, Math.round(seconds));
  const hours = Math.floor(s / 3600);
  const minutes = Math.floor(s / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}
