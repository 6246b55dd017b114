/**
 * Numbers and times as people read them. Whatever is missing is an en dash, so that a column keeps its place.
 * Pure: no I/O, no clock.
 */
import type { Billing } from '../../service/client/index.ts';

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
  const number =
    size >= 999.5 ? (size / 1000).toFixed(1) : String(size < 9.95 ? Math.round(size * 10) / 10 : Math.round(size));
  // A hyphen is no minus sign.
  return `${ms < 0 && Number(number) !== 0 ? '−' : ''}${number} ${size >= 999.5 ? 's' : 'ms'}`;
}

/** Sound minus picture, in milliseconds: `Sound ahead by 11 ms`. */
export function formatSkew(ms: Maybe): string {
  if (!known(ms)) return NONE;
  if (Math.abs(ms) < 0.5) return 'Together';
  return `Sound ${ms < 0 ? 'ahead' : 'behind'} by ${formatMs(Math.abs(ms))}`;
}

/** A whole number with separators: `12,034`. */
export function formatCount(n: Maybe): string {
  return known(n) ? Math.round(n).toLocaleString(NUMBERS) : NONE;
}

/** A share of a hundred with two decimals at most, rounded down: what is less than 100 % never reads as that. */
export function formatPercent(percent: Maybe): string {
  return known(percent) ? `${Math.floor(percent * 100 + 1e-6) / 100} %` : NONE;
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

/** A limit of the account, in powers of 1,024 as limits are set: `5 GiB`; a unit other than bytes is a count. */
export function formatAmount(amount: number, unit: string): string {
  if (unit === 'seconds') return spokenDuration(amount);
  if (unit !== 'bytes') return formatCount(amount);
  const power = amount < 1024 ? 0 : Math.min(BINARY.length - 1, Math.floor(Math.log2(amount) / 10));
  return `${Math.floor((amount / 1024 ** power) * 10) / 10} ${BINARY[power]}`;
}

/** `q_1080p` as `1080p`. */
export const formatQuality = (quality: string): string => quality.replace(/^q_/, '');

/** `f_30` as `30 fps`. */
export const formatFramerate = (framerate: string | number): string => `${String(framerate).replace(/^f_/, '')} fps`;

/** `q_1080p` and `f_30` (or without the prefixes) as `1080p30`'s readable form: `1080p · 30 fps`. */
export function formatProfile(quality: string | undefined, framerate: string | number | undefined): string {
  const parts = [quality && formatQuality(quality), framerate && formatFramerate(framerate)];
  return parts.filter(Boolean).join(' · ') || NONE;
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

/** `3 days 4 h`, `5 h 20 min`, `less than a minute`. */
export function formatTimeSpan(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return [`${days} ${days === 1 ? 'day' : 'days'}`, hours > 0 && `${hours} h`].filter(Boolean).join(' ');
  if (hours > 0) return [`${hours} h`, minutes > 0 && `${minutes} min`].filter(Boolean).join(' ');
  return minutes > 0 ? `${minutes} min` : 'less than a minute';
}

/** Seconds in hours and minutes, rounded: `2 h 30 min`, `30 h`, `0 min`. */
export function formatHours(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.round((seconds % 3600) / 60)];
  return [hours > 0 && `${hours} h`, (minutes > 0 || hours === 0) && `${minutes} min`].filter(Boolean).join(' ');
}

/** `about 3 min left`: to the second it would only flicker. */
export function formatTimeLeft(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  if (seconds < 10) return 'a few seconds left';
  if (seconds < 60) return `about ${Math.ceil(seconds / 10) * 10} s left`;
  if (seconds < 3600) return `about ${Math.ceil(seconds / 60)} min left`;
  return `about ${Math.ceil(seconds / 360) / 10} h left`;
}

/** The page is in English, so its dates are, too: words of two languages in one sentence are read by nobody. */
const DATES = 'en-GB';
/** `$12.34`, and not the `US$12.34` of DATES. Digits and separators are those of DATES. */
const NUMBERS = 'en';

/** The clock of 12 or 24 hours, as the reader's browser has it. */
export const READER_HOUR12: boolean =
  new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 ?? false;

export interface ClockOptions {
  /** Undefined: the reader's. */
  timeZone?: string | undefined;
  hour12?: boolean;
}

const writeTime = (
  date: Date,
  fields: Intl.DateTimeFormatOptions,
  { timeZone, hour12 = READER_HOUR12 }: ClockOptions,
): string => {
  const clock: Intl.DateTimeFormatOptions = { hour: hour12 ? 'numeric' : '2-digit', minute: '2-digit', hour12 };
  const text = date.toLocaleString(DATES, { ...fields, ...clock, ...(timeZone && { timeZone }) });
  return text.replace(/[ap]m$/, (half) => half.toUpperCase());
};

/** `Fri 20 Nov, 18:00` or `Fri 20 Nov, 6:00 PM`; undefined for a time that is missing or unreadable. */
export function formatTime(at: string | null | undefined, options: ClockOptions = {}): string | undefined {
  const date = at ? new Date(at) : undefined;
  if (!date || Number.isNaN(date.getTime())) return undefined;
  return writeTime(date, { weekday: 'short', month: 'short', day: 'numeric' }, options);
}

/** `18:00` or `6:00 PM`. */
export const formatClock = (text: string, options: ClockOptions = {}): string => writeTime(new Date(text), {}, options);

/** `18:00` where that is within a day, `Fri 20 Nov, 18:00` where it is not; undefined for a time that is missing or unreadable. */
export function formatUntil(at: string | null | undefined, now: number): string | undefined {
  const hours = (Date.parse(at ?? '') - now) / 3_600_000;
  return at && hours < 24 && hours > -1 ? formatClock(at) : formatTime(at);
}

/** `18:00` on the reader's day of `from`, `Fri 20 Nov, 18:00` on another. */
export const formatEnd = (at: string, from: string): string | undefined =>
  new Date(at).toDateString() === new Date(from).toDateString() ? formatClock(at) : formatTime(at);

/** `31 January 2027`, in the reader's zone. */
export const formatDay = (time: string): string =>
  new Intl.DateTimeFormat(DATES, { day: 'numeric', month: 'long', year: 'numeric' }).format(new Date(time));

/** `31 Jan 2027`, in the reader's zone. */
export const formatShortDay = (time: string): string =>
  new Date(time).toLocaleDateString(DATES, { dateStyle: 'medium' });

/** `2027-01-31`, on the reader's own clock. */
export function formatIsoDay(at: Date): string {
  const [month, day] = [at.getMonth() + 1, at.getDate()].map(two);
  return `${at.getFullYear()}-${month}-${day}`;
}

/** `31 Jan`: a day has no zone. */
export const formatDayOfMonth = (day: string): string =>
  new Date(day).toLocaleDateString(DATES, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** How long until then: `in a moment`, `in 5 min`, `in 3 h`, `in 2 days`; nothing for a time that is missing or over. */
export function formatIn(at: string | null | undefined, now: Date): string {
  const minutes = Math.round((Date.parse(at ?? '') - now.getTime()) / 60_000);
  if (Number.isNaN(minutes) || minutes < 0) return '';
  if (minutes === 0) return 'in a moment';
  if (minutes < 60) return `in ${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 36 ? `in ${hours} h` : `in ${Math.round(hours / 24)} days`;
}

/** `NotReady` as `Not ready`: reasons are CamelCase for machines. */
export function formatReason(reason: string): string {
  const words = reason.replace(/(?<=[a-z0-9])[A-Z]/g, ' $&').toLowerCase();
  return words === '' ? 'Event' : words.charAt(0).toUpperCase() + words.slice(1);
}

/** A currency, and the digits in which the API counts it: the browser's own tables differ from it, and change. */
export type Money = Pick<Billing, 'currency' | 'currencyDigits'>;
export type Currency = Money & Pick<Billing, 'creditsPerMinorUnit'>;

/** A whole number of the smallest unit, as a decimal number; exact, however large it is. */
export function formatDecimal(amount: string, decimals: number): string {
  const sign = amount.startsWith('-') ? '-' : '';
  const text = amount.replace('-', '').padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  // linear-time: an amount has few decimals.
  const part = text.slice(text.length - decimals).replace(/0+$/, '');
  return `${sign}${whole}${part && `.${part}`}`;
}

const formatCurrency = (number: string, { currency, currencyDigits }: Money, most: number): string => {
  return new Intl.NumberFormat(NUMBERS, {
    style: 'currency',
    currency,
    minimumFractionDigits: currencyDigits,
    maximumFractionDigits: Math.max(currencyDigits, most),
    // A fraction is never shown as more than it is.
    roundingMode: 'trunc',
  } as Intl.NumberFormatOptions).format(number as Intl.StringNumericLiteral);
};

/** `$12.34`, of minor units. */
export const formatMinor = (amountMinor: string, money: Money): string =>
  formatCurrency(formatDecimal(amountMinor, money.currencyDigits), money, 0);

/**
 * `$12.34` of credits, and `less than $0.01` of less. `exactly`: with the parts of a cent that one second costs; what is below zero has
 * them too, where it is no whole cent.
 */
export function formatCredits(
  credits: string,
  { creditsPerMinorUnit, ...money }: Currency,
  { exactly = false }: { exactly?: boolean } = {},
): string {
  const digits = money.currencyDigits + creditsPerMinorUnit.length - 1;
  const [amount, cent] = [BigInt(credits), BigInt(creditsPerMinorUnit)];
  if (!exactly && amount > 0n && amount < cent) return `less than ${formatMinor('1', money)}`;
  const hasParts = exactly || (amount < 0n && amount > -cent);
  return formatCurrency(formatDecimal(String(amount), digits), money, hasParts ? digits : 0);
}

/** A sum for a chart, whose axis needs numbers. It is no more exact than a picture is. */
export const toChartNumber = (credits: string, { currencyDigits, creditsPerMinorUnit }: Currency): number =>
  Number(formatDecimal(credits, currencyDigits + creditsPerMinorUnit.length - 1));

/** Parts of an axis of a chart: between its labels are so many steps, more or less. */
const AXIS_STEPS = 3;

/**
 * Formats the labels of an axis up to `most`, with as many digits as its steps have, which are two that count: so no two labels
 * are alike, however small the sums are.
 */
export function createAxisFormat(most: number, { currency, currencyDigits: digits }: Money): (cost: number) => string {
  const needed = most > 0 ? 1 - Math.floor(Math.log10(most / AXIS_STEPS)) : digits;
  const format = new Intl.NumberFormat(NUMBERS, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: Math.min(12, Math.max(digits, needed)),
  });
  return (cost) => format.format(cost);
}

/** `25`, `25.5` and `25,50` as minor units; undefined for a text that is no amount. */
export function parseMinor(
  text: string,
  { currencyDigits: digits }: Pick<Money, 'currencyDigits'>,
): string | undefined {
  const [, whole, part = ''] = /^(\d{1,12})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return undefined;
  const minor = BigInt(`${whole}${part.padEnd(digits, '0')}`);
  return minor > 0n ? String(minor) : undefined;
}

/** `−14.2` with the sign that does not break a line. */
export const formatDecibels = (value: number): string => String(Math.round(value * 10) / 10).replace('-', '−');
