/** Says what time on air costs: the price of an hour, and of a month without a break. Pure: no I/O, no clock. */
import type { Prices } from '../../../service/client/index.ts';
import { formatCredits } from '../../lib/format.ts';

type Price = Prices['onAir'][number];
export type PricedProfile = Pick<Price, 'quality' | 'framerate'>;

const HOURS_PER_MONTH = 720n;
const SECONDS_PER_HOUR = 3600;

export const findPrice = ({ onAir }: Prices, { quality, framerate }: PricedProfile): Price | undefined =>
  onAir.find((price) => price.quality === quality && price.framerate === framerate);

/** `$0.03/h`; `free` for a price of 0. */
export const formatHourly = (creditsPerHour: string, prices: Prices): string =>
  creditsPerHour === '0' ? 'free' : `${formatCredits(creditsPerHour, prices, { exactly: true })}/h`;

/** `$21.60`, for 30 days. */
export const formatMonthly = (creditsPerHour: string, prices: Prices): string =>
  formatCredits(String(BigInt(creditsPerHour) * HOURS_PER_MONTH), prices);

/** `$0.03/h, about $21.60 a month`. */
export function describePrice({ creditsPerHour }: Pick<Price, 'creditsPerHour'>, prices: Prices): string {
  const hourly = formatHourly(creditsPerHour, prices);
  return creditsPerHour === '0' ? hourly : `${hourly}, about ${formatMonthly(creditsPerHour, prices)} a month`;
}

/** `$0.0047`: what so many seconds on air cost, rounded down as the charge is. */
export const formatCost = (
  seconds: number,
  { creditsPerHour }: Pick<Price, 'creditsPerHour'>,
  prices: Prices,
): string =>
  formatCredits(String((BigInt(Math.floor(seconds)) * BigInt(creditsPerHour)) / BigInt(SECONDS_PER_HOUR)), prices, {
    exactly: true,
  });

export interface PriceGroup {
  quality: Price['quality'];
  framerates: Price['framerate'][];
  creditsPerHour: string;
  next: Price['next'];
}

/** Joins the frame rates of a quality that cost the same, in the order of the list. */
export function groupPrices({ onAir }: Prices): PriceGroup[] {
  const groups: PriceGroup[] = [];
  for (const { quality, framerate, creditsPerHour, next } of onAir) {
    const isSame = (one: PriceGroup) =>
      one.quality === quality &&
      one.creditsPerHour === creditsPerHour &&
      one.next?.from === next?.from &&
      one.next?.creditsPerHour === next?.creditsPerHour;
    const group = groups.find(isSame);
    if (group) group.framerates.push(framerate);
    else groups.push({ quality, framerates: [framerate], creditsPerHour, next });
  }
  return groups;
}
