/**
 * Reads the settings of the roles that run once for each stream, file or test, in a pod of their own. Many of these
 * pods start for little work, so this file imports nothing heavy. Pure: no I/O, no clock.
 */
import { common, maxSourceBytes } from '../settings/common.ts';
import { ConfigError, type Env, reader } from '../settings/settings.ts';
import { CONFINE_MODES, type ConfineMode } from './confinement/modes.ts';
import { mediaLimits } from './limits.ts';

/**
 * Credentials for media in S3: a directory with two files, which no process list shows, or two variables. Both
 * variables or neither: a server would refuse a half later, in other words.
 */
export const storageCredentials = (env: Env) => {
  const { text, optional } = reader(env);
  const directory = optional('STORAGE_CREDENTIALS_DIR');
  if (directory !== undefined) return Object.freeze({ directory });
  if (optional('S3_ACCESS_KEY_ID') === undefined && optional('S3_SECRET_ACCESS_KEY') === undefined) return undefined;
  return Object.freeze({ accessKeyId: text('S3_ACCESS_KEY_ID'), secretAccessKey: text('S3_SECRET_ACCESS_KEY') });
};

/** How far the kernel confines ffmpeg and ffprobe: as far as it can, wholly or not at all, or not. */
export function confineMode(env: Env): ConfineMode {
  const value = reader(env).text('CONFINE', 'auto');
  const mode = CONFINE_MODES.find((each) => each === value);
  if (mode) return mode;
  throw new ConfigError(`LOOPSTREAM_CONFINE must be ${CONFINE_MODES.join(', ')}.`);
}

export const DEFAULT_CACHE_BYTES = 2 * 2 ** 30;
/** Half a minute of the highest quality: a smaller cache would evict the playing media for the media read ahead. */
export const MIN_CACHE_BYTES = 256 * 2 ** 20;

/** Settings of the streamer, inside the pod of one stream. Paths are mount points of the pod's volumes. */
export const streamerConfig = (env: Env) => {
  const { text, integer, optional, flag } = reader(env);
  return Object.freeze({
    ...common(env),
    programFile: text('PROGRAM_FILE'),
    /** JSON: destinations by name, each with rtmpUrl, rtmpKey, rtmpUser and rtmpPassword. */
    destinationsFile: text('DESTINATIONS_FILE'),
    storageUrl: text('STORAGE_URL'),
    storageCredentials: storageCredentials(env),
    /** Cache of media from S3; the directory belongs to one process. Without it nothing is cached. */
    cacheDir: optional('CACHE_DIR'),
    cacheBytes: integer('CACHE_BYTES', DEFAULT_CACHE_BYTES, MIN_CACHE_BYTES),
    host: text('HOST', '0.0.0.0'),
    port: integer('PORT', 9400, 0, 65_535),
    /** Port of /metrics; by default the port of everything else. */
    metricsPort: optional('METRICS_PORT') === undefined ? undefined : integer('METRICS_PORT', 9405, 0, 65_535),
    /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
    caFile: optional('CA_FILE'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    sender: text('SENDER', text('FFMPEG', 'ffmpeg')),
    confine: confineMode(env),
    /** File with the operator's token; without it the stream takes no commands. */
    controlTokenFile: reader(env).optional('CONTROL_TOKEN_FILE'),
    /** File with the token for numbers and the preview; without it everybody may look. */
    viewTokenFile: optional('VIEW_TOKEN_FILE'),
    /** File with the UID of the one pod that may publish; without it this process publishes. */
    publisherFile: optional('PUBLISHER_FILE'),
    podUid: optional('POD_UID') ?? '',
    /** Seconds of publishing after SIGTERM, unless it is told to stop: the next pod takes over meanwhile. */
    lingerSeconds: integer('LINGER_SECONDS', 0, 0, 3600),
    /** Files for the time on air: one that Kubernetes reads at the end, and one that the pod's next process reads. */
    resultFile: optional('RESULT_FILE'),
    sessionsFile: optional('SESSIONS_FILE'),
  });
};
export type StreamerConfig = ReturnType<typeof streamerConfig>;

/** Settings of the transfer of a link. */
export const fetchLimits = (env: Env) => {
  const { integer } = reader(env);
  return {
    /** Limit of the whole transfer. */
    fetchTimeoutSeconds: integer('FETCH_TIMEOUT_SECONDS', 3600, 1, 7 * 86_400),
    /** A server that sends less for half a minute is given up; 0 allows any rate. */
    minFetchBytesPerSecond: integer('MIN_FETCH_BYTES_PER_SECOND', 16 * 1024, 0),
  };
};

/** Settings of the prepare Job: one task, one result. */
export const prepareConfig = (env: Env) => {
  const { text, optional, integer, flag, json } = reader(env);
  return Object.freeze({
    ...common(env),
    task: json<unknown>('TASK'),
    resultFile: text('RESULT_FILE'),
    /** Address that serves the progress; without a host it is not served. */
    host: optional('HOST'),
    port: integer('PORT', 9403, 0, 65_535),
    storageUrl: text('STORAGE_URL'),
    storageCredentials: storageCredentials(env),
    allowPrivateLinks: flag('ALLOW_PRIVATE_LINKS'),
    maxSourceBytes: maxSourceBytes(env),
    ...fetchLimits(env),
    mediaLimits: mediaLimits(env),
    ffmpeg: text('FFMPEG', 'ffmpeg'),
    confine: confineMode(env),
    ffprobe: text('FFPROBE', 'ffprobe'),
    /** Socket at which the container beside this one asks for work; it then runs both tools. */
    decoderSocket: optional('DECODER_SOCKET'),
    /** Directory for the files that it reads. */
    inputDir: optional('INPUT_DIR'),
  });
};
export type PrepareConfig = ReturnType<typeof prepareConfig>;

/** Settings of the decoder, the container beside it, which runs ffmpeg and ffprobe and has nothing else. */
export const decoderConfig = (env: Env) => {
  const { text } = reader(env);
  return Object.freeze({
    ...common(env),
    socket: text('DECODER_SOCKET'),
    ffmpeg: text('FFMPEG', 'ffmpeg'),
    ffprobe: text('FFPROBE', 'ffprobe'),
    confine: confineMode(env),
  });
};
export type DecoderConfig = ReturnType<typeof decoderConfig>;

/** Settings of a destination's test: one attempt, one result. */
export const probeConfig = (env: Env) => {
  const { text, optional, flag } = reader(env);
  return Object.freeze({
    ...common(env),
    /** Directory with the files rtmpUrl and rtmpKey, and rtmpUser and rtmpPassword for a login. */
    destinationDir: text('DESTINATION_DIR'),
    resultFile: text('RESULT_FILE'),
    /** As for the streamer. */
    caFile: optional('CA_FILE'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    ffmpeg: text('FFMPEG', 'ffmpeg'),
    sender: text('SENDER', text('FFMPEG', 'ffmpeg')),
    confine: confineMode(env),
  });
};
export type ProbeConfig = ReturnType<typeof probeConfig>;
