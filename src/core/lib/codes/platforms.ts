/**
 * Lists the reasons of the condition PlatformLive of a destination: why viewers do not see the stream, or why that cannot be told. The reason
 * of the condition is the same word, in CamelCase. Pure: no I/O, no clock.
 */
import { type CodeText, toPascalCase } from './code-text.ts';

const CHECK_SERVER =
  'Look at the log of the server or CDN that viewers use, and restart its output if it does not recover.';
const CHECK_ADDRESS = 'Compare the watch address of the destination with the one that viewers open.';

/** The platform does not show the stream, or not as it is sent: PlatformLive is False. */
export const PLATFORM_FAULTS = {
  broadcast_ended: {
    meaning: 'The broadcast has ended on the platform, although the stream is still sent.',
    fix: 'Start a new broadcast with the same key, and switch off its automatic end.',
  },
  no_broadcast: {
    meaning: 'The platform accepts the stream, but no broadcast shows it.',
    fix: 'Schedule a broadcast with this key on the platform, and switch on its automatic start.',
  },
  ingest_inactive: {
    meaning: 'The platform says that it gets no media.',
    fix: 'Compare the key of the destination with the one that the platform shows for this broadcast.',
  },
  health_bad: {
    meaning: 'The platform says that viewers may see a bad picture or none.',
    fix: 'Read the issues of the destination, and change the quality of the stream as they say.',
  },
  key_revoked: {
    meaning: 'The platform no longer knows the key of the destination.',
    fix: 'Copy the key from the platform again.',
  },
  taken_down: {
    meaning: 'The platform has removed the broadcast. No new one is made, since that could cost the channel.',
    fix: 'Read on the platform why, and settle it there. Then retry the destination.',
  },
  repair_limit: {
    meaning: 'New broadcasts have ended again and again, so no more are made: three an hour and ten a day at most.',
    fix: 'Look on the platform for what ends them. Then retry the destination.',
  },
  repair_refused: {
    meaning: 'The platform does not let us make, bind or start a new broadcast.',
    fix: 'Check that the channel may go live, and connect an account that may manage it. Then retry the destination.',
  },
  bound_elsewhere: {
    meaning: 'Somebody has bound the new broadcast to another key.',
    fix: 'Bind the broadcast to the key of the destination on the platform, or delete it there. Then retry the destination.',
  },
  address_not_found: { meaning: 'The watch address is not found on its server.', fix: CHECK_ADDRESS },
  server_failing: { meaning: 'The server of the watch address answers with errors.', fix: CHECK_SERVER },
  no_playlist: { meaning: 'The watch address leads to a page where the stream was before.', fix: CHECK_SERVER },
  not_advancing: { meaning: 'The watch address shows no new media.', fix: CHECK_SERVER },
  old_segments: { meaning: 'The server plays old media again instead of what is sent now.', fix: CHECK_SERVER },
  segments_missing: {
    meaning: 'The playlist lists media that its server does not have.',
    fix: 'Check that the server or CDN serves the segments of the playlist, and that it keeps them long enough.',
  },
  not_decodable: { meaning: 'Viewers get media that cannot be decoded.', fix: CHECK_SERVER },
  frozen: { meaning: 'Viewers see a picture that stands still, while the stream moves.', fix: CHECK_SERVER },
  black: { meaning: 'Viewers see black, while the stream shows a picture.', fix: CHECK_SERVER },
  other_picture: {
    meaning: 'Viewers see another picture than the one that is sent.',
    fix: 'Check whether something else publishes with the same name or key, and renew the key if you do not know it.',
  },
} as const satisfies Record<string, CodeText>;
export type PlatformFault = keyof typeof PLATFORM_FAULTS;

/** The stream is seen, and will not be for long: PlatformLive stays True. */
export const PLATFORM_WARNINGS = {
  limit_near: {
    meaning: 'The platform ends each broadcast after a longest time, which is near.',
    fix: 'Stop and start the stream at a time that suits the viewers, before the platform ends it.',
  },
} as const satisfies Record<string, CodeText>;

/** Nobody can tell: PlatformLive is Unknown. */
export const PLATFORM_DOUBTS = {
  not_checked: {
    meaning: 'Nobody has looked lately.',
    fix: 'Wait a minute. If it stays, ask the operator of this service whether its platform component runs.',
  },
  not_sending: {
    meaning: 'The stream is not sent now.',
    fix: 'Nothing has to be done for the platform: start the stream.',
  },
  starting: { meaning: 'The stream has just begun, and what viewers see is not known yet.', fix: 'Wait a minute.' },
  quota_exhausted: {
    meaning: 'The requests that the platform allows are used up for now.',
    fix: 'Wait until the platform allows more, or ask it for a higher quota.',
  },
  unauthorized: {
    meaning: 'The platform or the server of the watch address does not let us look.',
    fix: 'Connect the account of the platform again, or name a watch address or a video that opens without signing in. If it stays, ask the operator of this service whether it may use the API of the platform.',
  },
  forbidden_address: {
    meaning: 'The watch address is not public.',
    fix: 'Give the destination a public watch address.',
  },
  unreachable: {
    meaning: 'The server of the watch address could not be reached from here.',
    fix: 'Open the watch address yourself. If it opens, check for a firewall in between.',
  },
  rate_limited: {
    meaning: 'The platform or the server of the watch address allows no more requests for now.',
    fix: 'Wait some minutes. Your own server should accept a request every two seconds.',
  },
  platform_failed: {
    meaning: 'The platform answers with errors.',
    fix: 'Wait some minutes, and look at the status page of the platform.',
  },
  not_visible: {
    meaning: 'The platform does not show the video to everyone: it is private, deleted or blocked.',
    fix: 'Check the video id of the destination, or connect the account of the platform, which sees private videos.',
  },
  not_a_broadcast: {
    meaning: 'The video of the destination is not a live broadcast.',
    fix: 'Give the destination the id of the video that viewers open to see the broadcast.',
  },
  other_account: {
    meaning: 'The connected account has no stream with the key of the destination.',
    fix: 'Connect the account of the channel that the key belongs to, or copy the key from this channel.',
  },
  channel_not_found: {
    meaning: 'The platform knows no such channel.',
    fix: 'Compare the channel of the destination with its address on the platform.',
  },
  unconfirmed: {
    meaning: 'The last answers of the platform do not agree, or may be out of date.',
    fix: 'Wait a minute: the next answers tell.',
  },
  not_media: { meaning: 'The watch address leads to something that is not a stream.', fix: CHECK_ADDRESS },
  playlist_too_large: {
    meaning: 'The playlist of the watch address is too large, or has no end.',
    fix: 'Use a watch address whose playlist has only the newest segments.',
  },
  protected: {
    meaning: 'The media advance, but are encrypted (DRM), so the picture is not known.',
    fix: 'Give the destination a watch address without DRM, if there is one.',
  },
  no_picture: {
    meaning: 'The media advance, but have no picture that can be decoded.',
    fix: 'Give the destination a watch address with H.264 video, if there is one.',
  },
  no_own_picture: {
    meaning: 'The media advance, but there is no picture of the stream to compare with.',
    fix: 'Nothing has to be done if it passes within minutes. Otherwise look at the log of the stream.',
  },
  picture_unclear: {
    meaning: 'The media advance, but whether the picture is the one that is sent cannot be told.',
    fix: 'Nothing has to be done: a still, or a picture that the platform has changed much, cannot be compared.',
  },
} as const satisfies Record<string, CodeText>;
export type PlatformDoubt = keyof typeof PLATFORM_DOUBTS;

export const PLATFORM_CODES = { ...PLATFORM_FAULTS, ...PLATFORM_WARNINGS, ...PLATFORM_DOUBTS };
/** Why viewers do not see a stream, why that is not known, or what asks for attention while they see it. */
export type PlatformReason = keyof typeof PLATFORM_CODES;

/** The reason of PlatformLive while it is True and nothing asks for attention. */
export const SEEN = 'Seen';

const BY_CONDITION: ReadonlyMap<string, PlatformReason> = new Map(
  (Object.keys(PLATFORM_CODES) as PlatformReason[]).map((code) => [toPascalCase(code), code]),
);

/** The code of a condition's reason; undefined for `Seen`, and for one that is newer than this table. */
export const findPlatformCode = (conditionReason: string): PlatformReason | undefined =>
  BY_CONDITION.get(conditionReason);
