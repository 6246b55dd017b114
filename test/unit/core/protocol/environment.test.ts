/**
 * Tests that a pod understands the environment that the operator of another release gives it. Each one is here as the release before the one
 * that moved the formats to src/core/protocol wrote it. Leave these literals as they are; add one when a format changes.
 */
import { expect, test } from 'vitest';
import {
  decoderConfig,
  prepareConfig,
  probeConfig,
  setting,
  streamerConfig,
} from '../../../../src/core/protocol/environment.ts';
import { readTask } from '../../../../src/core/protocol/task.ts';

test('of a streamer: packed in one variable, without what is the default, and its address beside', () => {
  const config = streamerConfig({
    LOOPSTREAM_SETTINGS:
      '{"STORAGE_URL":"s3://media","STORAGE_CREDENTIALS_DIR":"/etc/loopstream/storage","CACHE_DIR":"/var/cache/loopstream",' +
      '"CACHE_BYTES":"1073741824","ALLOW_PRIVATE_DESTINATIONS":"true","METRICS_PORT":"9405","STREAM_DIR":"/stream",' +
      '"REPORTS_URL":"http://operator:9404","GRANT_DIR":"/tmp/grant","LINGER_SECONDS":"20",' +
      '"RESULT_FILE":"/dev/termination-log","SESSIONS_FILE":"/tmp/sessions.json","A_LATER_SETTING":"x"}',
    LOOPSTREAM_HOST: '10.0.0.1',
  });
  expect(config).toMatchObject({
    storageUrl: 's3://media',
    storageCredentials: { directory: '/etc/loopstream/storage' },
    cacheDir: '/var/cache/loopstream',
    cacheBytes: 1_073_741_824,
    allowPrivateDestinations: true,
    host: '10.0.0.1',
    port: 9400,
    metricsPort: 9405,
    reportsUrl: 'http://operator:9404',
    lingerSeconds: 20,
    resultFile: '/dev/termination-log',
    sessionsFile: '/tmp/sessions.json',
    programFile: '/stream/program.json',
    destinationsFile: '/stream/destinations.json',
    controlTokenFile: '/stream/token',
    viewTokenFile: '/stream/viewToken',
    publisherFile: '/stream/publisher',
    podUidFile: '/stream/podUid',
  });
});

test('of a Job: a variable for each setting, the task and the records as JSON', () => {
  const task = '{"action":"sweep","keep":"AAAA","shard":0,"shards":1,"graceSeconds":86400}';
  const config = prepareConfig({
    LOOPSTREAM_LOG_LEVEL: 'info',
    LOOPSTREAM_STORAGE_URL: 'file:///var/lib/loopstream/media',
    TMPDIR: '/tmp',
    LOOPSTREAM_TASK: task,
    LOOPSTREAM_RECORDS: '{"installation":"inst-1"}',
    LOOPSTREAM_RESULT_FILE: '/dev/termination-log',
    LOOPSTREAM_OWN_RATES: 'true',
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'false',
    LOOPSTREAM_MAX_SOURCE_BYTES: '1000',
    LOOPSTREAM_FETCH_TIMEOUT_SECONDS: '60',
    LOOPSTREAM_MIN_FETCH_BYTES_PER_SECOND: '10',
    LOOPSTREAM_MAX_DURATION_SECONDS: '3600',
    LOOPSTREAM_HOST: '10.0.0.1',
    LOOPSTREAM_PORT: '9403',
    LOOPSTREAM_DECODER_SOCKET: '/run/loopstream/decoder.sock',
    LOOPSTREAM_INPUT_DIR: '/var/lib/loopstream/input',
    LOOPSTREAM_A_LATER_SETTING: 'x',
  });
  expect(readTask(config.task)).toEqual({ ok: true, message: JSON.parse(task) });
  expect(config).toMatchObject({
    records: { installation: 'inst-1' },
    resultFile: '/dev/termination-log',
    ownRates: true,
    allowPrivateLinks: false,
    maxSourceBytes: 1000,
    fetchTimeoutSeconds: 60,
    minFetchBytesPerSecond: 10,
    mediaLimits: { durationSeconds: 3600 },
    host: '10.0.0.1',
    port: 9403,
    decoderSocket: '/run/loopstream/decoder.sock',
    inputDir: '/var/lib/loopstream/input',
  });
});

test('of a decoder, and of the test of a destination', () => {
  const socket = '/run/loopstream/decoder.sock';
  expect(decoderConfig({ LOOPSTREAM_DECODER_SOCKET: socket, LOOPSTREAM_CONFINE: 'required' })).toMatchObject({
    socket,
    confine: 'required',
  });
  const test = {
    LOOPSTREAM_DESTINATION_DIR: '/etc/loopstream/destination',
    LOOPSTREAM_RESULT_FILE: '/dev/termination-log',
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'false',
  };
  expect(probeConfig(test)).toMatchObject({
    destinationDir: '/etc/loopstream/destination',
    resultFile: '/dev/termination-log',
    allowPrivateDestinations: false,
  });
});

test('is written under the names by which it is read', () => {
  expect(setting('STREAM_DIR', '/stream')).toEqual({ name: 'LOOPSTREAM_STREAM_DIR', value: '/stream' });
});
