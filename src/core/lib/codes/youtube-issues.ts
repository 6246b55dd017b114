/**
 * Lists what YouTube says about the media that it receives (`status.healthStatus.configurationIssues[].type` of a live stream), in the terms
 * of this product. The types are documented; sentences and fixes are ours, since those of YouTube speak of an encoder that one can set by
 * hand. Pure: no I/O, no clock.
 */
import type { CodeText } from './code-text.ts';

interface YoutubeIssue extends CodeText {
  code: string;
}

const COPIED =
  'Media that already fits is sent as it was uploaded. Set another quality or frame rate for the stream, or upload the file again in this quality.';
const QUALITY =
  'Set the quality and the frame rate of the stream to those that the stream key in YouTube Studio allows.';
const LINK = 'Check the outgoing bandwidth of the node and the live-stats of the stream, or choose a lower quality.';
const KEY_SETTINGS =
  'In YouTube Studio, use a stream key whose resolution is set to be found automatically, or set the quality of the stream to that of the key.';
const ONE_PUBLISHER =
  'Stop the other publisher that sends to the backup address with this key, or let both send the same quality and frame rate.';
const REPORT =
  'Nothing has to be set: media is always sent in this form. Report it if YouTube says so for more than some minutes.';

const issue = (code: string, meaning: string, fix: string): YoutubeIssue => ({ code, meaning, fix });

export const YOUTUBE_ISSUES: Readonly<Record<string, YoutubeIssue>> = {
  audioBitrateHigh: issue('audio_bitrate_high', 'The bitrate of the sound is higher than YouTube recommends.', COPIED),
  audioBitrateLow: issue('audio_bitrate_low', 'The bitrate of the sound is lower than YouTube recommends.', COPIED),
  audioBitrateMismatch: issue(
    'audio_bitrate_differs',
    'Two publishers of this key send sound of different bitrates.',
    ONE_PUBLISHER,
  ),
  audioCodec: issue('audio_codec', 'YouTube does not take the codec of the sound.', COPIED),
  audioCodecMismatch: issue(
    'audio_codec_differs',
    'Two publishers of this key send sound in different codecs.',
    ONE_PUBLISHER,
  ),
  audioSampleRate: issue(
    'audio_sample_rate',
    'The sample rate of the sound is not one that YouTube recommends.',
    COPIED,
  ),
  audioSampleRateMismatch: issue(
    'audio_sample_rate_differs',
    'Two publishers of this key send sound of different sample rates.',
    ONE_PUBLISHER,
  ),
  audioStereoMismatch: issue(
    'audio_channels_differ',
    'Two publishers of this key send sound with different channels.',
    ONE_PUBLISHER,
  ),
  audioTooManyChannels: issue('audio_channels', 'The sound has more channels than YouTube takes.', COPIED),
  badContainer: issue('bad_container', 'YouTube cannot read the container of the stream.', REPORT),
  bitrateHigh: issue('bitrate_high', 'The bitrate of the stream is higher than YouTube recommends.', COPIED),
  bitrateLow: issue('bitrate_low', 'The bitrate of the stream is lower than YouTube recommends.', LINK),
  frameRateHigh: issue(
    'frame_rate_high',
    'The frame rate is higher than YouTube takes.',
    'Set the frame rate of the stream to 60 or less.',
  ),
  framerateMismatch: issue(
    'frame_rate_differs',
    'Two publishers of this key send different frame rates.',
    ONE_PUBLISHER,
  ),
  gopMismatch: issue(
    'keyframes_differ',
    'Two publishers of this key send keyframes at different intervals.',
    ONE_PUBLISHER,
  ),
  gopSizeLong: issue(
    'keyframes_rare',
    'Keyframes come less often than every four seconds.',
    `This upload was copied as it is. ${COPIED}`,
  ),
  gopSizeOver: issue(
    'keyframes_rare',
    'Keyframes come less often than YouTube allows, so viewers may see nothing.',
    `This upload was copied as it is. ${COPIED}`,
  ),
  gopSizeShort: issue('keyframes_frequent', 'Keyframes come so often that the picture gets worse.', COPIED),
  interlacedVideo: issue('interlaced', 'The picture is interlaced.', COPIED),
  multipleAudioStreams: issue('several_audio_tracks', 'The stream has more than one sound track.', REPORT),
  multipleVideoStreams: issue('several_video_tracks', 'The stream has more than one picture track.', REPORT),
  noAudioStream: issue(
    'no_audio',
    'YouTube receives no sound.',
    'Upload media with sound, or add music to the stream: YouTube wants a sound track.',
  ),
  noVideoStream: issue(
    'no_video',
    'YouTube receives no picture.',
    'Look at the live-stats of the stream and at the item that plays.',
  ),
  openGop: issue('open_gop', 'The picture has open groups of pictures, which YouTube does not cut well.', COPIED),
  resolutionMismatch: issue(
    'resolution_differs',
    'Two publishers of this key send different resolutions.',
    ONE_PUBLISHER,
  ),
  videoBitrateMismatch: issue(
    'video_bitrate_differs',
    'Two publishers of this key send pictures of different bitrates.',
    ONE_PUBLISHER,
  ),
  videoCodec: issue('video_codec', 'YouTube does not take the codec of the picture.', COPIED),
  videoCodecMismatch: issue(
    'video_codec_differs',
    'Two publishers of this key send pictures in different codecs.',
    ONE_PUBLISHER,
  ),
  videoIngestionFasterThanRealtime: issue('too_fast', 'YouTube receives media faster than it plays.', REPORT),
  videoIngestionStarved: issue('starved', 'YouTube does not receive media fast enough, so viewers have to wait.', LINK),
  videoInterlaceMismatch: issue(
    'interlacing_differs',
    'One publisher of this key sends interlaced pictures and one does not.',
    ONE_PUBLISHER,
  ),
  videoProfileMismatch: issue(
    'video_profile_differs',
    'Two publishers of this key send pictures of different profiles.',
    ONE_PUBLISHER,
  ),
  videoResolutionSuboptimal: issue(
    'resolution_not_best',
    'The resolution is not the one that YouTube expects for this key.',
    KEY_SETTINGS,
  ),
  videoResolutionUnsupported: issue('resolution_unsupported', 'YouTube does not take this resolution.', QUALITY),
};

/** For a type that is newer than the table. */
export const UNKNOWN_YOUTUBE_ISSUE: YoutubeIssue = issue(
  'other_issue',
  'YouTube reports a problem with the media that it receives.',
  'Read what the live control room in YouTube Studio says about the stream.',
);

/** Each code once: two types of YouTube may be one of ours. */
export const PLATFORM_ISSUES: ReadonlyMap<string, CodeText> = new Map(
  [...Object.values(YOUTUBE_ISSUES), UNKNOWN_YOUTUBE_ISSUE].map(({ code, meaning, fix }) => [code, { meaning, fix }]),
);
