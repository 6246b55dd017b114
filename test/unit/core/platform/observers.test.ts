/** Tests that an observer runs while a destination has its kind of platform, and no longer. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/core/lib/clock.ts';
import type { ApiObserverDeps, PlatformTarget } from '../../../../src/core/platform/common/observer.ts';
import { createObserverGroup, type PlatformKind } from '../../../../src/core/platform/observers.ts';
import { silent } from '../../../kit/real/kube.ts';

const target = (key: string, kind: PlatformKind): PlatformTarget => ({
  key,
  uid: `uid-${key}`,
  platform: { kind, policy: 'Observe' },
  publishing: null,
});

function createGroup() {
  const stop = new AbortController();
  const events: string[] = [];
  const reports: string[] = [];
  let lastDeps: ApiObserverDeps | undefined;
  const create = (kind: PlatformKind) => (deps: ApiObserverDeps) => {
    lastDeps = deps;
    events.push(`${kind} begins`);
    const ended = new Promise<void>((resolve) =>
      deps.signal.addEventListener('abort', () => {
        events.push(`${kind} ends`);
        resolve();
      }),
    );
    return {
      update: (all: readonly PlatformTarget[]) => void events.push(`${kind} ${all.map(({ key }) => key)}`),
      ended,
    };
  };
  const unused = () => Promise.reject(new Error('unused'));
  const group = createObserverGroup(
    { watch: create('watch'), youtube: create('youtube') },
    {
      clock: systemClock,
      log: silent,
      signal: stop.signal,
      report: (key) => void reports.push(key),
      readSecrets: unused,
      loadRepair: unused,
      saveRepair: unused,
      updateShared: unused,
    },
  );
  return { group, stop, events, reports, deps: () => lastDeps };
}

test('nothing begins without a destination, or for a kind that nobody has', async () => {
  const { group, events, stop } = createGroup();
  await setImmediate();
  expect(events).toEqual([]);
  group.set('tv/a', target('tv/a', 'watch'));
  await setImmediate();
  expect(events).toEqual(['watch begins', 'watch tv/a']);
  stop.abort();
  await group.ended();
});

test('changes of one moment are handed over together, each kind with its own', async () => {
  const { group, events, stop } = createGroup();
  group.set('tv/a', target('tv/a', 'watch'));
  group.set('tv/b', target('tv/b', 'watch'));
  group.set('tv/c', target('tv/c', 'youtube'));
  await setImmediate();
  expect(events).toEqual(['watch begins', 'watch tv/a,tv/b', 'youtube begins', 'youtube tv/c']);
  stop.abort();
  await group.ended();
});

test('an observer ends with the last destination of its kind, and begins anew with the next one', async () => {
  const { group, events, stop } = createGroup();
  group.set('tv/a', target('tv/a', 'watch'));
  await setImmediate();
  group.set('tv/a', target('tv/a', 'youtube'));
  await setImmediate();
  group.set('tv/a', undefined);
  await setImmediate();
  group.set('tv/a', target('tv/a', 'watch'));
  await setImmediate();
  expect(events).toEqual([
    ...['watch begins', 'watch tv/a', 'watch ends'],
    ...['youtube begins', 'youtube tv/a', 'youtube ends'],
    ...['watch begins', 'watch tv/a'],
  ]);
  stop.abort();
  await group.ended();
});

test('a late report about a destination that has another kind by now is dropped', async () => {
  const { group, reports, deps, stop } = createGroup();
  group.set('tv/a', target('tv/a', 'watch'));
  group.set('tv/b', target('tv/b', 'watch'));
  await setImmediate();
  const watch = deps();
  watch?.report('tv/a', { status: 'True', issues: [] }, 1000);
  group.set('tv/a', target('tv/a', 'youtube'));
  await setImmediate();
  watch?.report('tv/a', { status: 'True', issues: [] }, 1000);
  watch?.report('tv/b', { status: 'True', issues: [] }, 1000);
  expect(reports).toEqual(['tv/a', 'tv/b']);
  stop.abort();
  await group.ended();
});

test('a kind without an observer is not looked at', async () => {
  const { group, events, stop } = createGroup();
  group.set('tv/a', target('tv/a', 'twitch'));
  await setImmediate();
  expect(events).toEqual([]);
  expect(group.list('twitch')).toHaveLength(1);
  stop.abort();
  await group.ended();
});
