/**
 * Lists the roles and commands of the operator and of its pods. Each is loaded only when it runs: there is a streamer for each stream,
 * and it carries nothing of the operator.
 */
import { server } from './server.ts';
import type { Roles } from './start.ts';

export const CORE_ROLES: Roles = {
  operator: {
    group: 'server',
    summary: 'reconciles LoopStream resources into pods',
    run: server(
      'operator',
      async () => (await import('./operator/runtime/settings.ts')).operatorConfig,
      async () => (await import('./operator/main.ts')).runOperator,
      { isTraced: true },
    ),
  },
  platform: {
    group: 'server',
    summary: 'tells what viewers see of each destination',
    run: server(
      'platform',
      async () => (await import('./platform/settings.ts')).platformConfig,
      async () => (await import('./platform/main.ts')).runPlatform,
    ),
  },
  streamer: {
    group: 'pod',
    summary: 'sends the endless stream to its destinations',
    run: server(
      'streamer',
      async () => (await import('./protocol/environment.ts')).streamerConfig,
      async () => (await import('./pods/streamer/main.ts')).runStreamer,
    ),
  },
  prepare: {
    group: 'pod',
    summary: 'imports or prepares one file, in a Job',
    run: server(
      'prepare',
      async () => (await import('./protocol/environment.ts')).prepareConfig,
      async () => (await import('./pods/prepare/main.ts')).runPrepareJob,
    ),
  },
  decoder: {
    group: 'pod',
    summary: 'runs ffmpeg and ffprobe on that file, in a container without credentials',
    run: server(
      'decoder',
      async () => (await import('./protocol/environment.ts')).decoderConfig,
      async () => (await import('./pods/prepare/tools/decoder.ts')).runDecoder,
    ),
  },
  probe: {
    group: 'pod',
    summary: 'publishes for a moment to test a destination',
    run: server(
      'probe',
      async () => (await import('./protocol/environment.ts')).probeConfig,
      async () => (await import('./pods/probe/run.ts')).runProbe,
    ),
  },
  'support-bundle': {
    group: 'command',
    summary: 'writes an archive for support, without secrets',
    run: async (args) => (await import('./kubectl/run.ts')).runPlugin(['support-bundle', ...args]),
  },
  'remove-finalizers': {
    group: 'command',
    summary: 'removes the finalizers of objects whose operator is gone',
    run: async (args) => (await import('./operator/finalizers/command.ts')).removeFinalizersCommand(args),
  },
  adopt: {
    group: 'command',
    summary: 'gives the media of another namespace or installation to the uploads here',
    run: async (args) => (await import('./operator/sources/command.ts')).adoptCommand(args),
  },
  'forget-sources': {
    group: 'command',
    summary: 'gives up the media that no upload has',
    run: async (args) => (await import('./operator/sources/command.ts')).forgetSourcesCommand(args),
  },
};
