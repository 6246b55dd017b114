/** Tests the status of a playlist. */
import { describe, expect, it } from 'vitest';
import { assessItems, buildPlaylistStatus } from '../../../../../src/core/operator/playlist/status.ts';
import { type Condition, findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { PUBLISHED_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { Playlist } from '../../../../../src/core/resources/playlist/resource.ts';
import { MAX_ITEMS } from '../../../../../src/core/resources/playlist/spec.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { at, MEDIA, NOW, playlist, upload } from '../../../../kit/make/operator.ts';

const condition = (type: string, status: Condition['status'], message = ''): Condition => ({
  type,
  status,
  reason: 'Some',
  message,
  lastTransitionTime: '2026-06-01T11:00:00Z',
});
const good = (name: string) => upload(name);
const failed = (name: string) =>
  upload(name, {
    phase: 'failed',
    conditions: [condition('Ready', 'False'), condition('Stalled', 'True', 'It is cut off.')],
  });
const importing = (name: string) => upload(name, { phase: 'importing', conditions: [condition('Ready', 'False')] });
const preparing = (name: string) => upload(name, { phase: 'preparing', media: MEDIA });
const unused = (name: string) =>
  upload(name, { phase: 'ready', media: MEDIA, conditions: [condition('Ready', 'True')] });

function judge(list: Playlist, uploads: Upload[], now = NOW, lists: Playlist[] = []) {
  const found = new Map(uploads.map((one) => [one.metadata.name, one]));
  const { status, requeueAt } = buildPlaylistStatus(
    list,
    assessItems(
      list,
      (name) => found.get(name),
      (name) => lists.find(({ metadata }) => metadata.name === name),
    ),
    now,
  );
  const conditions = Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]),
  );
  const message = findCondition(status.conditions, 'Ready')?.message ?? '';
  return { conditions, message, requeueAt, list: { ...list, status } };
}

describe('a playlist', () => {
  it('of which every item can be played is ready and prepared', () => {
    const { conditions, list } = judge(playlist('mix', ['a', 'b']), [good('a'), unused('b')]);
    expect(conditions).toEqual({ Ready: 'True Playable', Prepared: 'True Prepared' });
    expect(list.status.observedGeneration).toBe(1);
  });

  it('with a rule whose time never comes is ready, and names the rule and what is wrong with it', () => {
    const list = playlist('mix', ['a']);
    const usual = { start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' } as const;
    const at = (name: string, cron: string) => ({
      ...usual,
      name,
      uploadName: 'a',
      when: { at: { cron, timeZone: 'UTC' } },
    });
    list.spec.rules = [at('hourly', '0 * * * *'), at('leap', '0 0 30 2 *')];
    const { conditions, message } = judge(list, [good('a')]);
    expect(conditions).toEqual({ Ready: 'True RuleNeverDue', Prepared: 'True Prepared' });
    expect(message).toBe(
      'The rule "leap" never plays: "0 0 30 2 *" describes a time that never comes. Change its cron.',
    );
  });

  it('of which one item can be played is ready, and names what streams leave out', () => {
    const items = ['bad', 'late', 'a', 'gone', 'half', 'bad'];
    const { conditions, message } = judge(playlist('mix', items), [
      failed('bad'),
      importing('late'),
      good('a'),
      preparing('half'),
    ]);
    expect(conditions).toEqual({ Ready: 'True ItemsLeftOut', Prepared: 'False ItemsLeftOut' });
    expect(message).toBe(
      '5 of 6 items cannot be played. Upload "bad" cannot be played: It is cut off. Upload "late" is still being imported. ' +
        'Upload "gone" does not exist. 1 more uploads cannot be played. Streams leave them out.',
    );
  });

  it.each<[string, Upload[], string]>([
    ['is imported', [importing('a'), failed('b')], 'MediaImporting'],
    ['is prepared', [failed('a'), preparing('b')], 'MediaPreparing'],
  ])('reconciles while the first item that can be played %s', (_what, uploads, reason) => {
    const { conditions } = judge(playlist('mix', ['a', 'b']), uploads);
    expect(conditions).toEqual({
      Ready: `False ${reason}`,
      Reconciling: `True ${reason}`,
      Prepared: `False ${reason}`,
    });
  });

  it('without an item that can be played stalls', () => {
    const { conditions, message } = judge(playlist('mix', ['a']), [failed('a')]);
    expect(conditions).toEqual({
      Ready: 'False MediaFailed',
      Stalled: 'True MediaFailed',
      Prepared: 'False MediaFailed',
    });
    expect(message).toBe('Upload "a" cannot be played: It is cut off.');
    expect(judge(playlist('mix', []), []).conditions.Stalled).toBe('True PlaylistEmpty');
    const song = upload('song', undefined, 'audio');
    expect(judge(playlist('mix', ['song']), [song]).conditions.Stalled).toBe('True MediaFailed');
    expect(judge(playlist('radio', ['song'], { track: 'audio' }), [song]).conditions.Ready).toBe('True Playable');
  });

  it('waits ten seconds for its uploads, and then stalls without an event', () => {
    const first = judge(playlist('mix', ['gone']), []);
    expect(first.conditions.Reconciling).toBe('True UploadNotFound');
    expect(first.requeueAt).toEqual(at(10));
    const later = judge(first.list, [], at(10));
    expect(later.conditions.Stalled).toBe('True UploadNotFound');
    expect(later.requeueAt).toBeUndefined();
  });

  it('whose rules play what cannot be played is ready, and says what is left out', () => {
    const rule = (name: string, what: object) => ({
      ...{ name, when: { eachItems: 1 }, start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
      ...what,
    });
    const list = playlist('mix', ['a']);
    const rules = [rule('own', { uploadName: 'bad' }), rule('others', { playlistName: 'jingles' })];
    const ruled = { ...list, spec: { ...list.spec, rules } } as Playlist;
    const jingles = playlist('jingles', ['b', 'late']);
    const { conditions, message } = judge(ruled, [good('a'), failed('bad'), good('b'), importing('late')], NOW, [
      jingles,
    ]);
    expect(conditions).toEqual({ Ready: 'True ItemsLeftOut', Prepared: 'False ItemsLeftOut' });
    expect(message).toContain('2 of 4 items cannot be played. Upload "bad" cannot be played: It is cut off.');
    expect(judge(ruled, [failed('a'), good('bad'), good('b'), good('late')], NOW, [jingles]).conditions.Ready).toMatch(
      /^False/,
    );
  });

  it('is judged by its published version, as streams play it', () => {
    const published = { version: 1, mode: 'sequential', items: [{ uploadName: 'a' }] };
    const list = playlist('mix', ['gone']);
    const annotations = { [PUBLISHED_ANNOTATION]: JSON.stringify(published) };
    const { conditions } = judge({ ...list, metadata: { ...list.metadata, annotations } }, [good('a')]);
    expect(conditions.Ready).toBe('True Playable');
  });

  it('looks at an upload once, in however many places it is', () => {
    let looks = 0;
    const list = playlist('mix', Array<string>(MAX_ITEMS).fill('a'));
    const look = (name: string) => {
      looks += 1;
      return failed(name);
    };
    const { own } = assessItems(list, look, () => undefined);
    expect([looks, own.total, own.problems.length]).toEqual([1, MAX_ITEMS, MAX_ITEMS]);
  });

  it('has the same status to the last byte as long as nothing has changed', () => {
    const first = judge(playlist('mix', ['a', 'gone']), [good('a')]);
    expect(judge(first.list, [good('a')], at(3600)).list.status).toEqual(first.list.status);
  });
});
