/** Provides the example stream, statistics and events of the documentation. Pure: no I/O, no clock. */

import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import type { LiveStats } from '../stats/record.ts';
import type { ReadinessIssue, Stream, StreamChange, StreamEvent, StreamWindows } from './record.ts';
import { toStream } from './view.ts';

const { stream, destination, upload, createdAt, since } = EXAMPLE;

const exampleResource: LoopStream = {
  metadata: { name: stream, uid: 'e2c1', resourceVersion: '1', generation: 1, creationTimestamp: createdAt },
  spec: {
    displayName: 'Night fireplace',
    replicas: 1,
    quality: '1080p',
    framerate: 30,
    destinationNames: [destination],
    uploadName: upload,
    schedule: { startAt: '2027-01-31T18:00:00Z', endAt: '2027-02-01T06:00:00Z' },
  },
  status: {
    observedGeneration: 1,
    phase: 'live',
    canStart: true,
    liveSince: since,
    conditions: [{ type: 'OnAirForViewers', status: 'True', reason: 'Seen', message: '', lastTransitionTime: since }],
  },
};

export const exampleStream: Stream = toStream(exampleResource, new Date(since), EXAMPLE.posterUrl);

export const exampleChange: StreamChange = {
  ...exampleStream,
  takesOffAir: false,
  lostDestinationIDs: [],
  storageBytes: 0,
  effect: 'The stream stays on air.',
  dryRun: false,
};

export const exampleRecurrence = { cron: '0 18 * * 5', timeZone: 'Europe/Berlin', durationSeconds: 43_200 };

export const exampleWindows: StreamWindows = {
  scheduleStartAt: null,
  scheduleEndAt: null,
  recurrence: exampleRecurrence,
  windows: [{ startAt: '2027-02-05T17:00:00Z', endAt: '2027-02-06T05:00:00Z' }],
};

export const exampleEvent: StreamEvent = {
  id: 'str-01k8zq4v7h2m9x3c5b6n7p8r9t.187f2c3b4d5e6f70',
  time: since,
  createdAt: since,
  type: 'Normal',
  reason: 'Live',
  message: 'The stream is live.',
  count: 1,
};

export const exampleIssue: ReadinessIssue = {
  code: 'media_preparing',
  message: 'The video is still being prepared.',
  fix: 'Wait until it has been prepared.',
  field: 'videoUploadObjectID',
  since,
};

const item = { id: upload, name: 'fireplace.mp4', playlistID: null, index: 0 };

export const exampleLiveStats: LiveStats = {
  live: true,
  quality: 'q_1080p',
  framerate: 'f_30',
  startedAt: since,
  uptimeSeconds: 3600.5,
  bitrateKbps: 4628.4,
  fps: 30,
  framesSent: 108_015,
  loopCount: 2,
  keyframeIntervalSeconds: 2,
  seam: { count: 2, maxStepMs: 33.4 },
  avSkewMs: 4.2,
  reconnects: 0,
  viewers: 128,
  current: item,
  positionSeconds: 61.4,
  durationSeconds: 1800,
  next: item,
  currentAudio: null,
  nextAudio: null,
  playable: true,
  brokenItems: [],
  destinations: [
    {
      id: destination,
      name: 'Main channel',
      connected: true,
      bytesSent: 2_083_914_112,
      bitrateKbps: 4128,
      leastBitrateKbps: 1500,
      pace: 1,
      reconnects: 0,
      viewers: 128,
      lastError: null,
    },
  ],
};
