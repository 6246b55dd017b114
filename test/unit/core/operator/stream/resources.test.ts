/** Tests what the pods of streams request. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseBytes, parseCpus } from '../../../../../src/core/kube/quantity.ts';
import { buildPod } from '../../../../../src/core/operator/stream/pod.ts';
import { type StreamUse, streamResources } from '../../../../../src/core/operator/stream/resources.ts';
import { PROFILES } from '../../../../../src/core/resources/stream/profile.ts';
import { MAX_DESTINATIONS } from '../../../../../src/core/resources/stream/spec.ts';
import { PROJECT_ROOT } from '../../../../../tools/process/root.ts';
import { makeProgram, NOW, S3_SETTINGS, SETTINGS, stream, world } from '../../../../kit/make/operator.ts';

const request = (profile: string, outputs: number, storage: StreamUse['storage'] = 's3') => {
  const { requests, limits } = streamResources({ profile, outputs, storage });
  const read = ({ cpu, memory }: typeof requests) => ({ cpu: parseCpus(cpu) ?? 0, bytes: parseBytes(memory) ?? 0 });
  return { ...read(requests), limits: read(limits) };
};

test('more outputs and a higher bitrate request more, and the smallest stream a small part of a core', () => {
  for (const profile of PROFILES)
    for (let outputs = 1; outputs < MAX_DESTINATIONS; outputs++) {
      expect(request(profile, outputs + 1).cpu).toBeGreaterThan(request(profile, outputs).cpu);
      expect(request(profile, outputs + 1).bytes).toBeGreaterThan(request(profile, outputs).bytes);
    }
  expect(request('2160p60', 1).cpu).toBeGreaterThan(request('720p30', 1).cpu);
  expect(request('2160p60', 1).bytes).toBeGreaterThan(request('720p30', 1).bytes);
  expect(request('720p30', 1).cpu).toBeLessThanOrEqual(0.05);
  expect(request('720p30', 1, 'volume').bytes).toBeLessThan(request('720p30', 1, 's3').bytes * 0.6);
});

test('the limits are the same for all, and far above every request: a pod takes up more destinations as it is', () => {
  const { limits } = request('720p30', 1);
  for (const profile of [...PROFILES, '4320p120']) {
    const most = request(profile, MAX_DESTINATIONS);
    expect(most.limits).toEqual(limits);
    expect(most.cpu).toBeLessThan(limits.cpu / 2);
    expect(most.bytes).toBeLessThan(limits.bytes / 2);
  }
});

const readRequests = (spec: Parameters<typeof stream>[0], settings = SETTINGS) => {
  const loopStream = stream(spec);
  const { spec: made } = buildPod(loopStream, makeProgram(loopStream, world(), NOW.toISOString()), settings);
  const [container] = (made as { containers: { resources: { requests: Record<string, string> } }[] }).containers;
  return container?.resources.requests;
};

test('a pod requests by what it plays and where it sends, unless its stream says something else', () => {
  const use = { profile: '720p30', outputs: 1 };
  const onVolume = streamResources({ ...use, storage: 'volume' }).requests;
  expect(readRequests({ destinationNames: ['tv'] })).toMatchObject(onVolume);
  const onS3 = streamResources({ ...use, storage: 's3' }).requests;
  expect(readRequests({ destinationNames: ['tv'] }, S3_SETTINGS)).toMatchObject(onS3);
  const own = { requests: { cpu: '2', memory: '3Gi' } };
  expect(readRequests({ template: { resources: own } })).toMatchObject(own.requests);
});

test('the documentation names the smallest and the largest request', () => {
  const documentation = readFileSync(join(PROJECT_ROOT, 'docs/streams.md'), 'utf8');
  const uses = [
    { profile: '720p30', outputs: 1 },
    { profile: '2160p60', outputs: MAX_DESTINATIONS },
  ];
  for (const use of uses)
    for (const storage of ['volume', 's3'] as const) {
      const { cpu, memory } = streamResources({ ...use, storage }).requests;
      expect(documentation).toContain(cpu);
      expect(documentation).toContain(memory);
    }
});
