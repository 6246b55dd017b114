/**
 * Reads the environment of the roles that run once for each stream, file or test, in a pod of their own, as the operator writes it.
 * settings/table.ts has the type, the default and the meaning of each name. There are many such pods, and they start for little: this
 * file imports nothing heavy. Pure: no I/O, no clock.
 */

import {
  CONTROL_TOKEN_KEY,
  DESTINATIONS_KEY,
  POD_UID_FILE,
  PROGRAM_FILE,
  PUBLISHER_KEY,
  VIEW_TOKEN_KEY,
} from '../resources/common/names.ts';
import { common, maxSourceBytes } from '../settings/common.ts';
import { type Env, reader, variable } from '../settings/settings.ts';
import type { CoreSettingName } from '../settings/table.ts';
import type { ConfineMode } from './confine-modes.ts';
import { mediaLimits } from './media-limits.ts';

/** Builds a variable of a pod's container. */
export const setting = (name: CoreSettingName, value: string) => ({ name: variable(name), value });

/** The address at which the pod listens. */
export const OWN_ADDRESS = {
  name: variable('HOST'),
  valueFrom: { fieldRef: { fieldPath: 'status.podIP' } },
};

/**
 * For media in S3: a directory with two files, which no process list shows, or two variables. Both or neither: half of them
 * would be refused later, by a server, in other words.
 */
export const storageCredentials = (env: Env) => {
  const { text, optional } = reader(env);
  const directory = optional('STORAGE_CREDENTIALS_DIR');
  if (directory !== undefined) return Object.freeze({ directory });
  if (optional('S3_ACCESS_KEY_ID') === undefined && optional('S3_SECRET_ACCESS_KEY') === undefined) return undefined;
  return Object.freeze({ accessKeyId: text('S3_ACCESS_KEY_ID'), secretAccessKey: text('S3_SECRET_ACCESS_KEY') });
};

/** Whether ffmpeg and ffprobe are confined by the kernel: as far as it can, wholly or not at all, or not. */
export const confineMode = (env: Env) => reader(env).text('CONFINE') as ConfineMode;

/** The streamer: inside the pod of one stream. Paths are where the pod's volumes are mounted. */
export const streamerConfig = (env: Env) => {
  const { text, integer, optional, flag } = reader(env);
  const directory = optional('STREAM_DIR');
  const inDirectory = (file: string) => directory && `${directory}/${file}`;
  return Object.freeze({
    ...common(env),
    programFile: text('PROGRAM_FILE', inDirectory(PROGRAM_FILE)),
    /** JSON: what each destination is called → its rtmpUrl, rtmpKey, rtmpUser and rtmpPassword. */
    destinationsFile: text('DESTINATIONS_FILE', inDirectory(DESTINATIONS_KEY)),
    storageUrl: text('STORAGE_URL'),
    storageCredentials: storageCredentials(env),
    /** Where media from S3 is kept to be read again; the directory of one process. Without it nothing is kept. */
    cacheDir: optional('CACHE_DIR'),
    cacheBytes: integer('CACHE_BYTES'),
    host: text('HOST', '0.0.0.0'),
    port: integer('PORT', 'streamer'),
    /** Where /metrics is; without it, at the same port as all else. */
    metricsPort: optional('METRICS_PORT') === undefined ? undefined : integer('METRICS_PORT'),
    /** PEM file of the authorities that are trusted for RTMPS, instead of the system's. */
    caFile: optional('CA_FILE'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    sender: text('SENDER', text('FFMPEG')),
    confine: confineMode(env),
    /** Holds the token that the operator shows; without it nobody may control the stream. */
    controlTokenFile: optional('CONTROL_TOKEN_FILE') ?? inDirectory(CONTROL_TOKEN_KEY),
    /** Holds the token for numbers and the preview; without it everybody may look. */
    viewTokenFile: optional('VIEW_TOKEN_FILE') ?? inDirectory(VIEW_TOKEN_KEY),
    /** Names the one pod of the stream that may publish, by its UID; without it this process publishes. */
    publisherFile: optional('PUBLISHER_FILE') ?? inDirectory(PUBLISHER_KEY),
    /** Holds the UID of this pod. */
    podUidFile: optional('POD_UID_FILE') ?? inDirectory(POD_UID_FILE),
    /** Base URL of the operator's Service, for reports; without it the operator asks for them. */
    reportsUrl: optional('REPORTS_URL'),
    /** How long it publishes after SIGTERM without a stop command: until then another one can take over. */
    lingerSeconds: integer('LINGER_SECONDS'),
    /** Where the time on air is written: what Kubernetes reads at the end, and what the next process of the pod reads. */
    resultFile: optional('RESULT_FILE'),
    sessionsFile: optional('SESSIONS_FILE'),
  });
};
export type StreamerConfig = ReturnType<typeof streamerConfig>;

/** Of the transfer of a link. */
export const fetchLimits = (env: Env) => {
  const { integer } = reader(env);
  return {
    /** For all of it. */
    fetchTimeoutSeconds: integer('FETCH_TIMEOUT_SECONDS'),
    /** A server that sends less for half a minute is given up; 0 for any rate. */
    minFetchBytesPerSecond: integer('MIN_FETCH_BYTES_PER_SECOND'),
  };
};

/** The prepare Job: one task, one answer. */
export const prepareConfig = (env: Env) => {
  const { text, optional, integer, flag, json } = reader(env);
  return Object.freeze({
    ...common(env),
    task: json<unknown>('TASK'),
    /** Absent where the operator may not know the installation. */
    records: optional('RECORDS') === undefined ? undefined : json<unknown>('RECORDS'),
    resultFile: text('RESULT_FILE'),
    /** Where it serves its progress; without a host it serves none. */
    host: optional('HOST'),
    port: integer('PORT', 'prepare'),
    storageUrl: text('STORAGE_URL'),
    storageCredentials: storageCredentials(env),
    allowPrivateLinks: flag('ALLOW_PRIVATE_LINKS'),
    maxSourceBytes: maxSourceBytes(env),
    ...fetchLimits(env),
    mediaLimits: mediaLimits(env),
    ffmpeg: text('FFMPEG'),
    confine: confineMode(env),
    ffprobe: text('FFPROBE'),
    drawText: text('DRAW_TEXT'),
    /** Where the container beside this one is to come for work, which then runs both of them. */
    decoderSocket: optional('DECODER_SOCKET'),
    /** Where files are put that it reads. */
    inputDir: optional('INPUT_DIR'),
    /** Processor time of one step, after which the process ends itself. */
    stepSeconds: integer('STEP_SECONDS'),
    /** Whether pictures may be copied at a frame rate of their own. */
    ownRates: flag('OWN_RATES'),
    /** The number of this pod in an indexed Job, which Kubernetes states itself. */
    completionIndex: Number(env.JOB_COMPLETION_INDEX ?? 0),
  });
};
export type PrepareConfig = ReturnType<typeof prepareConfig>;

/** The container beside it, which runs ffmpeg and ffprobe and has nothing else. */
export const decoderConfig = (env: Env) => {
  const { text } = reader(env);
  return Object.freeze({
    ...common(env),
    socket: text('DECODER_SOCKET'),
    ffmpeg: text('FFMPEG'),
    ffprobe: text('FFPROBE'),
    drawText: text('DRAW_TEXT'),
    confine: confineMode(env),
  });
};
export type DecoderConfig = ReturnType<typeof decoderConfig>;

/** The test of a destination: one attempt, one answer. */
export const probeConfig = (env: Env) => {
  const { text, optional, flag } = reader(env);
  return Object.freeze({
    ...common(env),
    /** Holds the files rtmpUrl and rtmpKey, and rtmpUser and rtmpPassword where there is a login. */
    destinationDir: text('DESTINATION_DIR'),
    resultFile: text('RESULT_FILE'),
    /** As a streamer's. */
    caFile: optional('CA_FILE'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    sender: text('SENDER', text('FFMPEG')),
    confine: confineMode(env),
  });
};
export type ProbeConfig = ReturnType<typeof probeConfig>;
