import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../../src/core/kube/core.ts';
import { Admission } from '../../../../../src/core/operator/upload/admission.ts';
import {
  getWorkKey,
  type WantedHelpers,
  type WantedJob,
  wantImport,
  wantRendition,
} from '../../../../../src/core/operator/upload/job.ts';
import { ACCOUNT_LABEL } from '../../../../../src/core/resources/common/names.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { MEDIA, makeJob, NAMESPACE, upload, wantHelpers } from '../../../../kit/make/operator.ts';

const key = (name: string) => `${NAMESPACE}/${name}`;
const asker = (name: string) => ({ key: key(name), since: name, account: undefined });
const fetching = (name: string, urgent = false): WantedJob => wantImport(upload(name), urgent);
const making = (name: string, profile = '720p30', urgent = false): WantedJob =>
  wantRendition(upload(name), MEDIA, profile, urgent);

const ownedBy = (account: string | undefined, upload: Upload): Upload =>
  account === undefined
    ? upload
    : { ...upload, metadata: { ...upload.metadata, labels: { [ACCOUNT_LABEL]: account } } };

/** Helpers of the rendition of an upload. */
const helping = (name: string, left = 119): WantedHelpers => ({
  ...wantHelpers(upload(name), MEDIA, '720p30'),
  name: `helpers-${name}`,
  left,
});

/** An admission, and the Jobs of its caller. */
function buildAdmission(
  limit: number,
  isSwept: (namespace: string, key: string) => boolean = () => false,
  workers = Number.POSITIVE_INFINITY,
) {
  const jobs = new Map<string, Job>();
  const admission = new Admission({
    limits: { import: limit, rendition: limit },
    jobs: () => [...jobs.values()],
    isImported: () => false,
    isSwept,
    mostHelpers: 15,
    countWorkers: () => workers,
  });
  const names = (wishes: WantedJob[]) => wishes.map(({ name }) => name);
  return {
    admission,
    /** Asks, makes the Jobs and settles, as a reconcile does. Returns the names of the new Jobs. */
    ask(name: string, wishes: WantedJob[], account?: string) {
      const { allowed, waiting } = admission.ask({ key: key(name), since: name, account }, wishes);
      for (const wish of allowed) jobs.set(wish.name, makeJob(ownedBy(account, upload(name)), wish));
      admission.settle(key(name));
      return { made: names(allowed), waiting: Object.fromEntries(waiting) };
    },
    /** Asks for helpers as a reconcile does. Returns how many there are. */
    lend(name: string, account?: string, left?: number) {
      const granted = admission.lend({ key: key(name), since: name, account }, [helping(name, left)]);
      return granted.get(`helpers-${name}`);
    },
    end: (job: string) => jobs.delete(job),
  };
}

describe('Jobs begin', () => {
  it('no more at a time than is allowed, and those that wait go on in the order of their uploads', () => {
    const { ask, end, admission } = buildAdmission(2);
    for (const name of ['a', 'b']) expect(ask(name, [fetching(name)]).made).toEqual([`${name}-import`]);
    for (const name of ['d', 'c'])
      expect(ask(name, [fetching(name)]).waiting).toEqual({ [`${name}-import`]: 'queued' });
    expect(admission.due()).toEqual([]);
    end('a-import');
    expect(admission.due()).toEqual([key('c')]);
    expect(ask('d', [fetching('d')]).made).toEqual([]);
    expect(ask('c', [fetching('c')]).made).toEqual(['c-import']);
    expect(admission.due()).toEqual([]);
  });

  it('first where a started stream waits for them', () => {
    const { ask, end, admission } = buildAdmission(1);
    ask('a', [fetching('a')]);
    ask('b', [fetching('b')]);
    ask('z', [fetching('z', true)]);
    end('a-import');
    expect(admission.due()).toEqual([key('z')]);
    expect(ask('b', [fetching('b')]).made).toEqual([]);
    expect(ask('z', [fetching('z', true)]).made).toEqual(['z-import']);
  });

  it('once for each rendition, whichever uploads ask for it, and another profile does not wait for that', () => {
    const { ask, end, admission } = buildAdmission(4);
    expect(ask('a', [making('a')]).made).toEqual(['a-720p30']);
    const b = ask('b', [making('b'), making('b', '1080p30')]);
    expect(b).toEqual({ made: ['b-1080p30'], waiting: { 'b-720p30': 'same' } });
    expect(admission.due()).toEqual([]);
    end('a-720p30');
    expect(admission.due()).toEqual([key('b')]);
    expect(ask('b', [making('b')]).made).toEqual(['b-720p30']);
  });

  it('once, too, when both ask before a Job of either is seen', () => {
    const { admission } = buildAdmission(4);
    expect(admission.ask(asker('a'), [making('a')]).allowed).toHaveLength(1);
    expect(admission.ask(asker('b'), [making('b')]).allowed).toEqual([]);
    admission.settle(key('a'));
    // The Job of `a` could not be made: `b` need not wait for it.
    expect(admission.due()).toEqual([key('b')]);
  });

  it('only when no sweep may delete their results', () => {
    let swept = true;
    const { ask, admission } = buildAdmission(4, () => swept);
    expect(ask('a', [making('a')]).made).toEqual([]);
    swept = false;
    expect(admission.due()).toEqual([key('a')]);
  });

  it('counted over all namespaces, and for no deleted upload', () => {
    const { ask, end, admission } = buildAdmission(1);
    ask('a', [fetching('a')]);
    ask('b', [fetching('b')]);
    expect(admission.ask({ ...asker('a'), key: 'radio/a' }, [fetching('a')]).waiting).toEqual(
      new Map([['a-import', 'queued']]),
    );
    admission.leave(key('b'));
    expect(admission.due()).toEqual([]);
    end('a-import');
    expect(admission.due()).toEqual(['radio/a']);
    admission.leave('radio/a');
    expect(admission.due()).toEqual([]);
  });

  it('for what has the same name in two namespaces, whose media is not the same', () => {
    const { ask, admission } = buildAdmission(4);
    expect(ask('a', [making('a')]).made).toEqual(['a-720p30']);
    const sameKey = wantRendition(upload('a'), MEDIA, '720p30');
    const { allowed } = admission.ask({ ...asker('a'), key: 'radio/a' }, [sameKey]);
    expect(allowed).toEqual([sameKey]);
    const [begun, ...others] = admission.begun();
    expect([begun, others]).toEqual([getWorkKey(sameKey.task), []]);
  });
});

describe('accounts share the places', () => {
  it('a namespace counts as an account, of which there may be one of the same name elsewhere', () => {
    const { ask, admission } = buildAdmission(4);
    for (const name of ['a', 'b', 'c']) expect(ask(name, [fetching(name)]).made).toHaveLength(1);
    const inRadio = (name: string, account?: string) =>
      admission.ask({ key: `radio/${name}`, since: name, account }, [fetching(name)]).allowed.length;
    expect(inRadio('d')).toBe(1);
    expect(inRadio('e')).toBe(0);
    admission.leave('radio/e');
    const other = buildAdmission(8);
    for (const name of ['a', 'b', 'c', 'd', 'e']) other.ask(name, [fetching(name)], 'A');
    const allowed = ['a', 'b', 'c', 'd', 'e'].filter(
      (name) =>
        other.admission.ask({ key: `radio/${name}`, since: name, account: 'A' }, [fetching(name)]).allowed.length > 0,
    );
    expect(allowed).toEqual(['a', 'b', 'c', 'd']);
  });

  it('imports and renditions have places of their own', () => {
    const { ask } = buildAdmission(1);
    expect(ask('a', [fetching('a')]).made).toEqual(['a-import']);
    expect(ask('b', [making('b'), making('b', '1080p30')])).toEqual({
      made: ['b-1080p30'],
      waiting: { 'b-720p30': 'queued' },
    });
  });

  it('an account has at most half of them, so that another one finds a place at once', () => {
    const { ask, end, admission } = buildAdmission(4);
    for (const name of ['a', 'b']) expect(ask(name, [fetching(name)], 'A').made).toHaveLength(1);
    for (const name of ['c', 'd'])
      expect(ask(name, [fetching(name)], 'A').waiting).toEqual({ [`${name}-import`]: 'queued' });
    expect(admission.due()).toEqual([]);
    expect(ask('z', [fetching('z')], 'B').made).toEqual(['z-import']);
    end('a-import');
    expect(admission.due()).toEqual([key('c')]);
  });

  it('an account’s media for a stream does not overtake the import of another account with fewer Jobs', () => {
    const { ask, end, admission } = buildAdmission(2);
    ask('a', [fetching('a')], 'A');
    ask('b', [fetching('b')], 'B');
    ask('y', [fetching('y')], 'C');
    ask('x', [fetching('x', true)], 'A');
    end('b-import');
    expect(admission.due()).toEqual([key('y')]);
  });

  it('an upload of kubectl has all of them where there are no accounts, and its share where there are', () => {
    const { ask } = buildAdmission(4);
    for (const name of ['a', 'b', 'c']) expect(ask(name, [fetching(name)]).made).toHaveLength(1);
    expect(ask('z', [fetching('z')], 'A').made).toHaveLength(1);
    const other = buildAdmission(4);
    other.ask('z', [fetching('z')], 'A');
    for (const name of ['a', 'b']) expect(other.ask(name, [fetching(name)]).made).toHaveLength(1);
    expect(other.ask('c', [fetching('c')]).made).toEqual([]);
  });
});

describe('helpers', () => {
  it('have the places that no Job holds, and are as many as the nodes have processors for', () => {
    const { ask, lend } = buildAdmission(20);
    ask('a', [making('a')], 'A');
    expect(lend('a', 'A')).toBe(15);
    const one = buildAdmission(20, undefined, 1);
    one.ask('a', [making('a')], 'A');
    expect(one.lend('a', 'A')).toBe(0);
    const three = buildAdmission(20, undefined, 3);
    three.ask('a', [making('a')], 'A');
    expect(three.lend('a', 'A')).toBe(2);
  });

  it('hold no place: another Job begins at once, of another account or the same, and the helpers are named as too many', () => {
    const { ask, lend, admission, end } = buildAdmission(4);
    ask('a', [making('a')], 'A');
    expect(lend('a', 'A')).toBe(3);
    expect(admission.due()).toEqual([]);
    expect(ask('b', [making('b', '1080p30')], 'B').made).toEqual(['b-1080p30']);
    expect(admission.due()).toEqual([key('a')]);
    expect(lend('a', 'A')).toBe(2);
    expect(ask('c', [making('c', '360p30')], 'A').made).toEqual(['c-360p30']);
    expect(lend('a', 'A')).toBe(1);
    expect(admission.due()).toEqual([]);
    end('b-1080p30');
    expect(admission.due()).toEqual([key('a')]);
    expect(lend('a', 'A')).toBe(2);
  });

  it('leave room for a Job whose turn has come and that is not made yet', () => {
    const { ask, lend, admission, end } = buildAdmission(1);
    ask('a', [making('a')]);
    expect(ask('b', [making('b', '1080p30')]).made).toEqual([]);
    end('a-720p30');
    expect(lend('a')).toBe(0);
    expect(admission.due()).toEqual([key('b')]);
  });

  it('are shared anew when another rendition can have some, and when one needs none any more', () => {
    const { ask, lend, admission } = buildAdmission(8);
    ask('a', [making('a')], 'A');
    ask('b', [making('b', '1080p30')], 'B');
    expect(lend('a', 'A')).toBe(6);
    expect(lend('b', 'B')).toBe(3);
    expect(admission.due()).toEqual([key('a')]);
    expect(lend('a', 'A')).toBe(3);
    admission.leave(key('b'));
    expect(admission.due()).toEqual([key('a')]);
    expect(lend('a', 'A', 2)).toBe(2);
  });

  it('share the places of all namespaces, also those of the same name', () => {
    const { ask, lend, admission } = buildAdmission(5);
    ask('a', [making('a')]);
    expect(lend('a')).toBe(4);
    expect(admission.lend({ ...asker('a'), key: 'radio/a' }, [helping('a')]).get('helpers-a')).toBe(2);
    expect(admission.due()).toEqual([key('a')]);
    expect(lend('a')).toBe(2);
    expect(admission.due()).toEqual([]);
  });
});
