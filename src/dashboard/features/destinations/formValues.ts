/** The values of a destination's form, and the part of them that is sent. Pure: no I/O, no clock. */

import { tidyKey, tidyText, tidyUrl } from '../../../core/lib/pasted.ts';
import { MOST_LEAST_KBPS } from '../../../core/resources/destination/least-bitrate.ts';
import { splitLogin } from '../../../core/resources/destination/login.ts';
import {
  findAddressProblem,
  findKeyNeed,
  type KeyNeed,
  readDestination,
} from '../../../core/resources/destination/read.ts';
import {
  findChannelProblem,
  findPlatformPage,
  findVideoProblem,
  findWatchProblem,
  readChannel,
  readVideoId,
} from '../../../core/resources/destination/viewers.ts';
import type { Destination, DestinationUpdate } from '../../../service/client/index.ts';
import { asSentence } from '../../api/problem.ts';

export const FIELDS = ['name', 'rtmpUrl', 'rtmpKey', 'rtmpUser', 'rtmpPassword'] as const;
type DestinationFormField = (typeof FIELDS)[number];
export type DestinationValues = Record<DestinationFormField, string> & {
  endLogin: boolean;
  /** A number, or empty for what the platform asks for. */
  leastBitrateKbps: string;
} & ViewersValues;

export type ViewersAt = 'nowhere' | NonNullable<Destination['platform']>['kind'];

/** Where viewers see the stream. */
export interface ViewersValues {
  viewersAt: ViewersAt;
  watchUrl: string;
  channel: string;
  videoId: string;
  refreshToken: string;
  /** Make a new broadcast when one has ended. */
  repairs: boolean;
  endToken: boolean;
}

export const buildViewersValues = (platform: Destination['platform']): ViewersValues => ({
  viewersAt: platform?.kind ?? 'nowhere',
  watchUrl: platform?.url ?? '',
  channel: platform?.channel ?? '',
  videoId: platform?.videoId ?? '',
  refreshToken: '',
  repairs: platform?.policy === 'Repair',
  endToken: false,
});

/** Fields of the request, and those of the form that they come from. */
export const VIEWERS_FIELDS: Readonly<Record<string, keyof ViewersValues>> = {
  'platform/url': 'watchUrl',
  'platform/channel': 'channel',
  'platform/videoId': 'videoId',
  'platform/refreshToken': 'refreshToken',
  'platform/policy': 'repairs',
};

/** Puts the server's complaints at the fields of the form. */
export const nameMistakes = (mistakes: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(mistakes).map(([field, text]) => [VIEWERS_FIELDS[field] ?? field, text]));

const hasTokenAfter = ({ refreshToken, endToken }: ViewersValues, before: Destination | undefined): boolean =>
  refreshToken.trim() !== '' || (before?.platform?.hasToken === true && !endToken);

/** Whether a new broadcast can be made: that takes a token. */
export const canRepair = (values: ViewersValues, before: Destination | undefined): boolean =>
  values.viewersAt === 'youtube' && hasTokenAfter(values, before);

const PAGES = { youtube: 'YouTube: choose “On YouTube”', twitch: 'Twitch: choose “On Twitch”' };

const asMistake = (problem: string | undefined): string | null => (problem === undefined ? null : asSentence(problem));

/** The mistakes in where viewers see the stream, in the words of the server, as Mantine asks for them. */
export const validateViewers = (before: Destination | undefined) => ({
  watchUrl: (url: string, { viewersAt }: ViewersValues) => {
    if (viewersAt !== 'watch') return null;
    if (url.trim() === '') return 'Enter the address that viewers open.';
    const page = findPlatformPage(url);
    return page ? `This is a page of ${PAGES[page]}.` : asMistake(findWatchProblem(tidyUrl(url)));
  },
  channel: (channel: string, { viewersAt }: ViewersValues) => {
    if (viewersAt !== 'twitch') return null;
    return channel.trim() === '' ? 'Enter the channel.' : asMistake(findChannelProblem(readChannel(channel)));
  },
  videoId: (videoId: string, values: ViewersValues) => {
    if (values.viewersAt !== 'youtube') return null;
    if (videoId.trim() !== '') return asMistake(findVideoProblem(readVideoId(videoId)));
    return hasTokenAfter(values, before) ? null : 'Enter the video that viewers open, or a token.';
  },
});

/** The part of it that is sent; nothing where it stays as it is. */
export function findPlatformChange(
  values: ViewersValues,
  before: Destination | undefined,
): Pick<DestinationUpdate, 'platform'> {
  const now = before?.platform ?? null;
  const { viewersAt: kind } = values;
  const refreshToken = tidyKey(values.refreshToken);
  const isTokenChanged = refreshToken !== '' || values.endToken;
  if (kind === 'nowhere') return now === null || !before ? {} : { platform: null };
  if (kind === 'watch') {
    const url = tidyUrl(values.watchUrl);
    return now?.kind === kind && now.url === url ? {} : { platform: { kind, url } };
  }
  if (kind === 'twitch') {
    const channel = readChannel(values.channel);
    return now?.kind === kind && now.channel === channel ? {} : { platform: { kind, channel } };
  }
  const videoId = readVideoId(values.videoId);
  const policy = values.repairs && canRepair(values, before) ? 'Repair' : 'Observe';
  const isSame = now?.kind === kind && (now.videoId ?? '') === videoId && now.policy === policy && !isTokenChanged;
  if (isSame) return {};
  return {
    platform: {
      kind,
      policy,
      ...(videoId !== '' && { videoId }),
      ...(isTokenChanged && { refreshToken }),
    },
  };
}

export const showLeastBitrate = (before: Destination | undefined): string => `${before?.leastBitrateKbps ?? ''}`;

/** Returns the mistake in a least bitrate, as Mantine asks for it. */
export const findLeastBitrateMistake = (text: string): string | null =>
  /^\d{0,5}$/.test(text.trim()) && Number(text) <= MOST_LEAST_KBPS
    ? null
    : `Enter a whole number from 0 to ${MOST_LEAST_KBPS.toLocaleString('en')}, or leave it empty.`;

/** The least bitrate as it is sent; nothing where it stays as it is. */
export function findLeastBitrateChange(
  { leastBitrateKbps }: Pick<DestinationValues, 'leastBitrateKbps'>,
  before: Destination | undefined,
): Pick<DestinationUpdate, 'leastBitrateKbps'> {
  const wanted = leastBitrateKbps.trim() === '' ? null : Number(leastBitrateKbps);
  return wanted === (before?.leastBitrateKbps ?? null) ? {} : { leastBitrateKbps: wanted };
}

type SentFields = Partial<Record<DestinationFormField, string>>;

/** Whether a new destination at this address needs a key. One that cannot be read, or has a placeholder for it, does. */
export function findAddressKeyNeed(rtmpUrl: string): KeyNeed {
  const { read } = readDestination({ rtmpUrl: splitLogin(tidyUrl(rtmpUrl)).rtmpUrl });
  return read ? findKeyNeed(read) : 'required';
}

/** Returns the mistake in an address, in the words of the server; null where it can be one. `before` is that of the destination. */
export function findAddressMistake(rtmpUrl: string, before?: string): string | null {
  const url = tidyUrl(rtmpUrl);
  if (url === '') return 'Enter the destination’s address.';
  const problem = url === before ? undefined : findAddressProblem(url);
  return problem === undefined ? null : asSentence(problem);
}

const TIDY: Partial<Record<DestinationFormField, (text: string) => string>> = { rtmpUrl: tidyUrl, rtmpKey: tidyKey };

/** Leaves out what is around copied texts, and the values that stay as they are. */
export function findChanges(values: DestinationValues, before: Destination | undefined): SentFields {
  const given = FIELDS.map((field) => [field, (TIDY[field] ?? tidyText)(values[field])] as const);
  const getCurrent = (field: DestinationFormField): string =>
    before && (field === 'name' || field === 'rtmpUrl') ? before[field] : '';
  const isAsked = (field: DestinationFormField) => !before && ['name', 'rtmpUrl', 'rtmpKey'].includes(field);
  const changes: SentFields = Object.fromEntries(
    given.filter(([field, value]) => isAsked(field) || value !== getCurrent(field)),
  );
  return values.endLogin ? { ...changes, rtmpUser: '', rtmpPassword: '' } : changes;
}
