/** Tests what the pods of streams request. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseBytes, parseCpus } from '../../../../src/kube/quantity.ts';
import { buildPod } from '../../../../src/operator/stream/pod.ts';
import { streamResources } from '../../../../src/operator/stream/resources.ts';
import { PROFILES } from '../../../../src/resources/stream/profile.ts';
import { MAX_DESTINATIONS } from '../../../../src/resources/stream/spec.ts';
import { PROJECT_ROOT } from '../../../../tools/process/root.ts';
import { makeProgram, NOW, SETTINGS, stream, world } from '../../../kit/make/operator.ts';

const request = (profile: string, outputs: number) => {
  const { requests, limits } = streamResources(profile, outputs);
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

const readRequests = (spec: Parameters<typeof stream>[0]) => {
  const loopStream = stream(spec);
  const { spec: made } = buildPod(loopStream, makeProgram(loopStream, world(), NOW.toISOString()), SETTINGS);
  const [container] = (made as { containers: { resources: { requests: Record<string, string> } }[] }).containers;
  return container?.resources.requests;
};

test('a pod requests by what it plays and where it sends, unless its stream says something else', () => {
  expect(readRequests({ destinationNames: ['tv'] })).toMatchObject(streamResources('720p30', 1).requests);
  const own = { requests: { cpu: '2', memory: '3Gi' } };
  expect(readRequests({ template: { resources: own } })).toMatchObject(own.requests);
});

test('the documentation names the smallest and the largest request', () => {
  const documentation = readFileSync(join(PROJECT_ROOT, 'docs/streams.md'), 'utf8');
  for (const { requests } of [streamResources('720p30', 1), streamResources('2160p60', MAX_DESTINATIONS)]) {
    expect(documentation).toContain(requests.cpu);
    expect(documentation).toContain(requests.memory);
  }
});
