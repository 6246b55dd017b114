/** Builds objects as the API server returns them, for tests of the operator's decisions: a test gives the fields that matter. */

import type { Job, Pod } from '../../../src/core/kube/core.ts';
import { kubeTime } from '../../../src/core/lib/clock.ts';
import { assessTracks } from '../../../src/core/operator/media/items.ts';
import type { PodSettings } from '../../../src/core/operator/pods/security.ts';
import type { Refusal } from '../../../src/core/operator/runtime/retries.ts';
import { decide } from '../../../src/core/operator/stream/decide.ts';
import type { Observation } from '../../../src/core/operator/stream/observation.ts';
import { buildPod } from '../../../src/core/operator/stream/pod.ts';
import { buildProgram, type Playhead } from '../../../src/core/operator/stream/program.ts';
import { buildStatus } from '../../../src/core/operator/stream/status.ts';
import {
  buildHelpersJob,
  buildJob,
  type WantedHelpers,
  type WantedJob,
  wantRendition,
} from '../../../src/core/operator/upload/job.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { PrepareResult } from '../../../src/core/protocol/task.ts';
import type { Destination } from '../../../src/core/resources/destination/resource.ts';
import type { Playlist } from '../../../src/core/resources/playlist/resource.ts';
import type { LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import type { Upload } from '../../../src/core/resources/upload/resource.ts';
import {
  type MediaInfo,
  type RenditionStatus,
  renditionKey,
  type UploadStatus,
} from '../../../src/core/resources/upload/spec.ts';

export const NAMESPACE = 'tv';
export const NOW = new Date('2026-06-01T12:00:00Z');
/** A refusal of Kubernetes in these words. */
export const refusal = (message: string): Refusal => ({ message, retryAt: at(30), passesSoon: false });
export const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

export const SETTINGS: PodSettings = {
  image: 'loopstream:1',
  prepareImage: 'loopstream:1',
  logLevel: 'info',
  storageUrl: 'file:///media',
  storageMountPath: '/media',
  storageVolume: { persistentVolumeClaim: { claimName: 'media' } },
  storageSecret: undefined,
  storageReadSecret: undefined,
  reportsUrl: undefined,
  cacheBytes: 2 ** 31,
  scratchVolume: { emptyDir: { sizeLimit: '64Gi' } },
  allowPrivateLinks: false,
  allowPrivateDestinations: false,
  maxSourceBytes: 20 * 2 ** 30,
  jobPlacement: {},
  mediaLimits: DEFAULT_LIMITS,
  fetchTimeoutSeconds: 3600,
  minFetchBytesPerSecond: 16_384,
  maxPrepareSeconds: 43_200,
  shareRenditions: false,
  confine: 'auto',
  scrapeAnnotations: false,
};

/** The same settings with media in S3. */
export const S3_SETTINGS: PodSettings = {
  ...SETTINGS,
  storageUrl: 's3://media?endpoint=http://s3:9000',
  storageVolume: undefined,
  storageSecret: 's3-credentials',
};

/** The objects beside a stream. */
export type World = Omit<Observation, 'stream'>;

let serial = 0;
export const meta = (name: string, generation = 1) => {
  serial++;
  return {
    name,
    namespace: NAMESPACE,
    uid: `uid-of-${name}`,
    resourceVersion: String(serial),
    generation,
    creationTimestamp: kubeTime(NOW),
  };
};

export const stream = (spec: Partial<LoopStreamSpec> = {}, more: Partial<LoopStream> = {}): LoopStream => ({
  apiVersion: 'loopstream.dev/v1beta1',
  kind: 'LoopStream',
  metadata: meta('bunny'),
  spec: { replicas: 1, quality: '720p', framerate: 30, uploadName: 'film', destinationNames: ['tv'], ...spec },
  ...more,
});

export const destination = (name = 'tv', ready: boolean | undefined = true): Destination => ({
  metadata: meta(name),
  spec: { secretName: `${name}-secret` },
  ...(ready !== undefined && {
    status: {
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          reason: ready ? 'Ready' : 'DestinationSecretMissing',
          message: ready ? 'Fine.' : `Secret "${name}-secret" does not exist.`,
          observedGeneration: 1,
          lastTransitionTime: kubeTime(NOW),
        },
      ],
    },
  }),
});

export const MEDIA: MediaInfo = {
  sha256: 'a'.repeat(64),
  sizeBytes: 1000,
  durationSeconds: 10,
  video: { codec: 'h264', width: 1280, height: 720, framerate: 30 },
  audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
};

export const rendition = (profile = '720p30', more: Partial<RenditionStatus> = {}): RenditionStatus => ({
  profile,
  state: 'ready',
  key: renditionKey(MEDIA.sha256, 'video', profile),
  durationSeconds: 10,
  bitrateKbps: 4000,
  ...more,
});

/** An upload that is ready in 720p30, unless `status` says otherwise. */
export const upload = (name = 'film', status?: UploadStatus, type: Upload['spec']['track'] = 'video'): Upload => ({
  apiVersion: 'loopstream.dev/v1beta1',
  kind: 'Upload',
  metadata: meta(name),
  spec: { track: type, source: { url: `https://media.example/${name}.mp4` } },
  status: status ?? {
    phase: 'ready',
    observedGeneration: 1,
    sourceKey: `sources/uid-of-${name}`,
    media: MEDIA,
    renditions: [rendition('720p30', { key: renditionKey(MEDIA.sha256, type, '720p30') })],
  },
});

export const playlist = (name: string, items: string[], spec: Partial<Playlist['spec']> = {}): Playlist => ({
  metadata: meta(name),
  spec: { track: 'video', mode: 'sequential', items: items.map((uploadName) => ({ uploadName })), ...spec },
});

const byName = <T extends { metadata: { name: string } }>(objects: T[]): Map<string, T> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

export const world = (
  objects: {
    destinations?: Destination[];
    uploads?: Upload[];
    playlists?: Playlist[];
    pod?: Pod;
    other?: Pod;
    isNameTaken?: boolean;
    now?: Date;
  } = {},
): World => ({
  destinations: byName(objects.destinations ?? [destination()]),
  uploads: byName(objects.uploads ?? [upload()]),
  playlists: byName(objects.playlists ?? []),
  pod: objects.pod,
  ...(objects.other && { other: objects.other }),
  ...(objects.isNameTaken && { isNameTaken: true }),
  freeName: objects.pod ? (objects.other ? undefined : 'bunny-onair-b') : 'bunny-onair',
  now: objects.now ?? NOW,
});

/** Returns the program that the operator would give a stream's pod in this world. */
export const makeProgram = (
  loopStream: LoopStream,
  inWorld: World,
  playhead: string | Playhead,
  previous?: Program,
): Program =>
  buildProgram(loopStream, { ...inWorld, media: { tracks: assessTracks(loopStream, inWorld) } }, playhead, previous);

/** Returns the pod that the operator would make for a stream, in the state that kubelet would report. */
export function makePod(
  loopStream: LoopStream,
  state: { ready?: boolean; deleted?: boolean; phase?: 'Pending' | 'Running' | 'Failed'; waiting?: string } = {},
  inWorld: World = world(),
): Pod {
  const built = buildPod(loopStream, makeProgram(loopStream, inWorld, kubeTime(NOW)), SETTINGS);
  return {
    ...built,
    spec: { ...built.spec, nodeName: 'node-a' },
    metadata: {
      ...built.metadata,
      ...meta(built.metadata.name),
      ...(state.deleted && { deletionTimestamp: kubeTime(NOW), deletionGracePeriodSeconds: 5 }),
    },
    status: {
      phase: state.phase ?? 'Running',
      conditions: [{ type: 'Ready', status: state.ready ? 'True' : 'False', lastTransitionTime: kubeTime(NOW) }],
      containerStatuses: [
        {
          name: 'streamer',
          ready: state.ready ?? false,
          restartCount: 2,
          ...(state.waiting !== undefined && { state: { waiting: { reason: state.waiting } } }),
        },
      ],
    },
  };
}

/** Decides, and returns the stream with the resulting status. */
export function step(
  loopStream: LoopStream,
  inWorld: World,
): { decision: ReturnType<typeof decide>; stream: LoopStream } {
  // A pod has the publisher lock unless the status differs.
  const podUID = loopStream.status?.podUID ?? inWorld.pod?.metadata.uid;
  const before = podUID === undefined ? loopStream : { ...loopStream, status: { ...loopStream.status, podUID } };
  const decision = decide({ ...inWorld, stream: before }, SETTINGS);
  return { decision, stream: { ...loopStream, status: buildStatus(before, decision, inWorld.pod, inWorld) } };
}

/** Returns the Job that the operator would make for a task. */
export const makeJob = (
  upload: Upload,
  wish: WantedJob,
  conditions: { type: string; status: string; reason?: string }[] = [],
): Job => {
  const built = buildJob(upload, wish, SETTINGS);
  return {
    ...built,
    metadata: { ...built.metadata, ...meta(wish.name) },
    status: { conditions, completionTime: kubeTime(NOW) },
  };
};

/** Returns the helpers of a rendition of an upload. */
export function wantHelpers(upload: Upload, media: MediaInfo, profile: string): WantedHelpers {
  const { name, task, deadlineSeconds } = wantRendition(upload, media, profile);
  if (task.action !== 'rendition') throw new Error('this is no rendition');
  return {
    name: `helpers-${name}`,
    task: { ...task, action: 'range' },
    ranges: 119,
    left: 119,
    deadlineSeconds,
    urgent: false,
  };
}

/** Returns the Job that the operator would make for helpers. */
export const makeHelpersJob = (upload: Upload, wanted: WantedHelpers, pods = 3): Job => {
  const built = buildHelpersJob(upload, wanted, pods, SETTINGS);
  return { ...built, metadata: { ...built.metadata, ...meta(wanted.name) } };
};

/** Returns the pod of a Job that ended with this answer. */
export const endedPod = (answer: PrepareResult | string, exitCode = 0): Pod => ({
  metadata: meta('job-pod'),
  spec: {},
  status: {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      {
        name: 'prepare',
        ready: false,
        restartCount: 0,
        state: {
          terminated: { exitCode, message: typeof answer === 'string' ? answer : JSON.stringify(answer) },
        },
      },
    ],
  },
});
