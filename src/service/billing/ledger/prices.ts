/**
 * Lists the prices of an hour on air, by quality and frame rate: data with dates. A price holds from its `from` until
 * the next one of the same quality and frame rate begins. The first one has no `from`, so there is a price at any time.
 * A price that has begun never changes, or charges could not be recomputed: add another one. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  FRAMERATES,
  type Framerate,
  formatProfile,
  PROFILES,
  type Profile,
  QUALITIES,
  type Quality,
} from '../../../core/resources/stream/profile.ts';
import { ConfigError } from '../../../core/settings/settings.ts';
import { isTime } from '../../lib/time.ts';

const Price = Type.Object(
  {
    quality: Type.Enum(QUALITIES),
    framerate: Type.Enum(FRAMERATES),
    creditsPerHour: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
    from: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
const Prices = Type.Array(Price);

/** The prices of each profile, the earliest first; times in milliseconds. */
export type PriceList = ReadonlyMap<Profile, readonly { from: number; creditsPerHour: bigint }[]>;

/** Credits for an hour at 30 frames a second, which 60 cost half as much again of: 3 cents for 1080p. */
const DEFAULT_PER_HOUR: Record<Quality, number> = { '720p': 200, '1080p': 300, '1440p': 500, '2160p': 900 };

const DEFAULT_PRICES: Static<typeof Prices> = QUALITIES.flatMap((quality) =>
  FRAMERATES.map((framerate) => ({
    quality,
    framerate,
    creditsPerHour: framerate === 60 ? (DEFAULT_PER_HOUR[quality] * 3) / 2 : DEFAULT_PER_HOUR[quality],
  })),
);

/**
 * Reads `[{"quality":"1080p","framerate":30,"creditsPerHour":300,"from":"2027-01-01T00:00:00Z"}, …]`; the default list without
 * a text. Throws ConfigError with what is wrong with it.
 */
export function parsePrices(text?: string): PriceList {
  const wrong = (what: string) => new ConfigError(`LOOPSTREAM_PRICES ${what}.`);
  let prices: unknown = DEFAULT_PRICES;
  if (text !== undefined) {
    try {
      prices = JSON.parse(text);
    } catch {
      throw wrong('must be JSON');
    }
  }
  if (!Value.Check(Prices, prices)) {
    const [first] = Value.Errors(Prices, prices);
    throw wrong(
      `must be a list of quality, framerate, creditsPerHour and from: ${first?.instancePath} ${first?.message}`,
    );
  }
  const list = new Map<Profile, { from: number; creditsPerHour: bigint }[]>(PROFILES.map((profile) => [profile, []]));
  for (const { quality, framerate, creditsPerHour, from } of prices) {
    if (from !== undefined && !isTime(from))
      throw wrong(`has "${from}" instead of a time such as 2027-01-01T00:00:00Z`);
    const at = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
    const history = list.get(formatProfile(quality, framerate)) ?? [];
    if (history.some((other) => other.from === at))
      throw wrong(`has two prices for ${quality} at ${framerate} from the same time`);
    history.push({ from: at, creditsPerHour: BigInt(creditsPerHour) });
  }
  for (const [profile, history] of list) {
    history.sort((a, b) => a.from - b.from);
    if (history[0]?.from !== Number.NEGATIVE_INFINITY) throw wrong(`has no price for ${profile} without a "from"`);
  }
  return list;
}

/** Returns the price that follows the one at this time, if it is set already; its time in milliseconds. */
export const findNextPrice = (
  list: PriceList,
  profile: Profile,
  at: Date,
): { from: number; creditsPerHour: bigint } | undefined => list.get(profile)?.find(({ from }) => from > at.getTime());

/** Credits for an hour on air at this time. */
export function priceAt(list: PriceList, profile: { quality: Quality; framerate: Framerate }, at: Date): bigint {
  const held = list
    .get(formatProfile(profile.quality, profile.framerate))
    ?.findLast(({ from }) => from <= at.getTime());
  return held?.creditsPerHour ?? 0n;
}
