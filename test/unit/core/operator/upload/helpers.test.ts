/** Tests how many pods help to make a rendition. */
import { describe, expect, it } from 'vitest';
import type { Node, NodeSpec } from '../../../../../src/core/kube/core.ts';
import {
  chooseParallelism,
  countWorkers,
  type Help,
  shareHelpers,
} from '../../../../../src/core/operator/upload/helpers.ts';

const help = (name: string, more: Partial<Help> = {}): Help => ({
  name,
  account: undefined,
  urgent: false,
  since: '2026-06-01T12:00:00Z',
  left: 119,
  ...more,
});
const share = (free: number, helps: Help[], { most = 1000, running = [] as string[] } = {}) =>
  Object.fromEntries(shareHelpers({ free, most, running }, helps));

describe('helpers', () => {
  it('take all places that no Job holds, where nobody else needs them', () => {
    expect(share(19, [help('a')])).toEqual({ a: 19 });
    expect(share(0, [help('a')])).toEqual({ a: 0 });
    expect(share(-3, [help('a')])).toEqual({ a: 0 });
  });

  it('are no more than the ranges that are left, and no more than the setting says', () => {
    expect(share(19, [help('a', { left: 3 })])).toEqual({ a: 3 });
    expect(share(19, [help('a')], { most: 15 })).toEqual({ a: 15 });
    expect(share(19, [help('a')], { most: 0 })).toEqual({ a: 0 });
  });

  it('go to the renditions that streams wait for, before all others', () => {
    expect(share(4, [help('a'), help('b', { urgent: true, left: 3 })])).toEqual({ a: 1, b: 3 });
  });

  it('are shared evenly by accounts, their Jobs among them, however many renditions each has', () => {
    const [a, b] = [{ account: 'A' }, { account: 'B' }];
    expect(share(6, [help('1', a), help('2', a), help('3', a), help('4', b)])).toEqual({ 1: 1, 2: 1, 3: 1, 4: 3 });
    expect(share(3, [help('1', a), help('4', b)], { running: ['A', 'A', 'B'] })).toEqual({ 1: 1, 4: 2 });
  });

  it('go to the older upload first', () => {
    const older = { since: '2026-06-01T11:00:00Z' };
    expect(share(3, [help('a'), help('b', older)])).toEqual({ a: 1, b: 2 });
  });
});

it.each([
  ['more places are free', 3, 5, 40, 5],
  ['places are given back', 5, 3, 40, 3],
  ['all are given back', 5, 0, 40, 0],
  ['fewer ranges are left than pods', 5, 2, 2, 5],
  ['places are given back while few ranges are left', 5, 1, 2, 1],
  ['the last ranges find more places', 1, 2, 2, 2],
])('the Job has the right parallelism when %s', (_, current, pods, left, parallelism) =>
  expect(chooseParallelism(current, pods, left)).toBe(parallelism),
);

describe('the pods that nodes have processors for', () => {
  const node = (
    cpu: string | undefined,
    { labels = {}, ...spec }: NodeSpec & { labels?: Record<string, string> } = {},
  ) =>
    ({
      metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '', labels },
      spec,
      status: { ...(cpu !== undefined && { allocatable: { cpu } }) },
    }) satisfies Node;

  it.each([
    ['one small node has one', ['2'], 1],
    ['twenty small nodes have twenty', Array.from({ length: 20 }, () => '1930m'), 20],
    ['a large node has several', ['16'], 4],
    ['what a kubelet keeps for itself counts', ['7910m'], 1],
    ['a node that says nothing has one', [undefined], 1],
  ])('%s', (_, cpus, workers) =>
    expect(
      countWorkers(
        cpus.map((cpu) => node(cpu)),
        {},
      ),
    ).toBe(workers),
  );

  it('are on nodes that take the pods', () => {
    const media = { labels: { pool: 'media' } };
    const taints = [{ key: 'gpu', effect: 'NoSchedule' }];
    const nodes = [
      node('4'),
      node('4', media),
      node('4', { ...media, unschedulable: true }),
      node('4', { ...media, taints }),
    ];
    expect(countWorkers(nodes, { nodeSelector: { pool: 'media' } })).toBe(1);
    const tolerations = [{ key: 'gpu', operator: 'Exists' as const }];
    expect(countWorkers(nodes, { nodeSelector: { pool: 'media' }, tolerations })).toBe(2);
  });
});
