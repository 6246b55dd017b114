import { describe, expect, test } from 'vitest';
import { keyFromFragment, PageSession as Session } from '../../../../src/dashboard/api/session.ts';

const storage = (kept: Map<string, string>) => ({
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
});

function host(hash: string, stored?: string, more: { isLocal?: boolean; answer?: boolean } = {}) {
  const kept = new Map<string, string>(stored ? [['loopstream.key', stored]] : []);
  const seen: string[] = [];
  const asked: string[] = [];
  const cookies: string[] = [];
  const told: (string | null)[] = [];
  return {
    asked,
    /** Orders to the browser about the key of its cookie. */
    cookies,
    keepKey: (key: string) => void cookies.push(`keep ${key}`),
    forgetKey: () => void cookies.push('forget'),
    shared: storage(new Map()),
    isLocal: more.isLocal ?? true,
    confirm: (question: string) => {
      asked.push(question);
      return more.answer ?? false;
    },
    seen,
    kept,
    hash,
    replaceHash: (rest: string) => void seen.push(rest),
    storage: storage(kept),
    told,
    tellOthers: (personId: string | null) => void told.push(personId),
  };
}

describe('the API key of a tab', () => {
  test('comes out of the fragment, which loses it and nothing else', () => {
    expect(keyFromFragment('#key=lsk_abc')).toEqual({ key: 'lsk_abc', rest: '' });
    expect(keyFromFragment('#a=1&key=lsk_abc')).toEqual({ key: 'lsk_abc', rest: '#a=1' });
    expect(keyFromFragment('#events')).toEqual({ key: undefined, rest: '#events' });
    expect(keyFromFragment('#key=')).toEqual({ key: undefined, rest: '#key=' });
    expect(keyFromFragment('')).toEqual({ key: undefined, rest: '' });
  });

  test('leaves the address bar as soon as the page loads, and wins over the one kept before', () => {
    const it = host('#key=lsk_new', 'lsk_old');
    const session = new Session(it);
    expect(session.key).toBe('lsk_new');
    expect(it.seen).toEqual(['']);
    expect([...it.kept.values()]).toEqual(['lsk_new']);
  });

  test('of a link is taken without a question from this machine alone, where nobody has signed in', () => {
    const local = host('#key=lsk_new');
    expect([new Session(local).key, local.asked]).toEqual(['lsk_new', []]);
    for (const answer of [false, true]) {
      const remote = host('#key=lsk_foreign', 'lsk_own', { isLocal: false, answer });
      expect(new Session(remote).key).toBe(answer ? 'lsk_foreign' : 'lsk_own');
      expect([remote.asked.length, remote.seen]).toEqual([1, ['']]);
    }
  });

  test('of a link is kept by the browser for other tabs on this machine alone, and forgotten with the sign-out', () => {
    const local = host('#key=lsk_new');
    const session = new Session(local);
    expect(local.cookies).toEqual(['keep lsk_new']);
    session.signOut();
    expect(local.cookies).toEqual(['keep lsk_new', 'forget']);
    const remote = host('#key=lsk_foreign', undefined, { isLocal: false, answer: true });
    new Session(remote).signOut();
    expect(remote.cookies).toEqual([]);
    // A key that is typed stays in its tab.
    const typed = host('');
    new Session(typed).signIn('lsk_typed');
    expect(typed.cookies).toEqual([]);
  });

  test('that the browser keeps signs a tab in where nobody has, until the user leaves or it is revoked', () => {
    const session = new Session(host(''));
    session.knowPerson(null, true);
    expect(session.who).toMatchObject({ key: undefined, person: null, hasKeptKey: true });
    session.knowPerson({ id: 'p', email: 'ada@example.com', firstName: 'Ada', lastName: null }, true);
    expect(session.who.hasKeptKey).toBe(false);
    const other = new Session(host(''));
    other.knowPerson(null, true);
    other.end();
    expect(other.who).toMatchObject({ person: null, hasKeptKey: false, notice: expect.stringContaining('no longer') });
    // The browser may not have forgotten it yet.
    other.knowPerson(null, true);
    expect(other.who.hasKeptKey).toBe(false);
  });

  test('of a link does not replace a person who has signed in, in any tab, without a question', () => {
    const first = host('');
    const session = new Session(first);
    session.knowPerson({ id: 'p', email: 'ada@example.com', firstName: 'Ada', lastName: null });
    const other = { ...host('#key=lsk_foreign'), shared: first.shared };
    expect([new Session(other).key, other.asked.length]).toEqual([undefined, 1]);
    // Also in the tab where they are.
    expect(session.adopt({ hash: '#key=lsk_foreign', replaceHash: first.replaceHash })).toBe(false);
    session.signOut();
    const later = { ...host('#key=lsk_new'), shared: first.shared };
    expect([new Session(later).key, later.asked]).toEqual(['lsk_new', []]);
  });

  test('that the tab has already is no reason to ask', () => {
    const again = host('#key=lsk_own', 'lsk_own', { isLocal: false });
    expect([new Session(again).key, again.asked]).toEqual(['lsk_own', []]);
  });

  test('that is refused keeps the typed input; a sign-out clears it', () => {
    const it = host('', 'lsk_old');
    it.kept.set('loopstream.drafts', '{}');
    const session = new Session(it);
    session.signOut('Your API key is no longer accepted.');
    expect([...it.kept.keys()]).toEqual(['loopstream.drafts']);
    session.signOut();
    expect(it.kept.size).toBe(0);
  });

  test('survives a reload of the tab', () => {
    expect(new Session(host('', 'lsk_old')).key).toBe('lsk_old');
  });

  test('is forgotten on sign out, and listeners get the reason', () => {
    const it = host('', 'lsk_old');
    const session = new Session(it);
    const heard: (string | undefined)[] = [];
    const leave = session.subscribe(() => heard.push(session.key));
    session.signOut('The key was revoked.');
    leave();
    session.signIn('lsk_next');
    expect(heard).toEqual([undefined]);
    expect(it.kept.get('loopstream.key')).toBe('lsk_next');
    expect(session.notice).toBeUndefined();
  });
});

describe('a person at the page', () => {
  const person = { id: 'u1', email: 'ada@example.com', firstName: 'Ada', lastName: null };

  test('is unknown until the server has answered, and may be nobody', () => {
    const session = new Session(host(''));
    expect(session.who.person).toBeUndefined();
    session.knowPerson(null);
    expect(session.who.person).toBeNull();
  });

  test('stays at the page when the session ends, and is back with all of it', () => {
    const session = new Session(host(''));
    session.knowPerson(person);
    session.end();
    expect(session.who).toMatchObject({ person, isOver: true });
    session.knowPerson(person);
    expect(session.who).toMatchObject({ person, isOver: false });
  });

  test('becomes nobody on sign out, with the reason; a dropped key leaves the question open', () => {
    const session = new Session(host(''));
    session.knowPerson(person);
    session.signOut('Bye.');
    expect(session.who).toMatchObject({ person: null, notice: 'Bye.' });
    session.signIn('lsk_x');
    session.end();
    expect(session.who.isOver).toBe(false);
    session.signOut();
    expect(session.who.person).toBeUndefined();
  });
});

describe('the tabs of a browser', () => {
  const ada = { id: 'u1', email: 'ada@example.com', firstName: 'Ada', lastName: null };
  const bo = { ...ada, id: 'u2', email: 'bo@example.com' };
  /** Tabs that hear each other, as by a BroadcastChannel. */
  function openTabs(...hosts: ReturnType<typeof host>[]): Session[] {
    const tabs: Session[] = hosts.map(
      (one, at) =>
        new Session({
          ...one,
          tellOthers: (id) => {
            one.told.push(id);
            for (const [other, tab] of tabs.entries()) if (other !== at) tab.hearOthers(id);
          },
        }),
    );
    return tabs;
  }

  test('are signed out together, and the drafts of the one who left are gone', () => {
    const [first, second] = [host(''), host('')];
    const [one, two] = openTabs(first, second) as [Session, Session];
    one.knowPerson(ada);
    two.knowPerson(ada);
    second.kept.set('loopstream.drafts', '{}');
    one.signOut();
    expect(two.who).toMatchObject({ person: null, isOver: false, notice: 'You signed out in another tab.' });
    expect(second.kept.size).toBe(0);
    // It tells nothing back.
    expect(second.told).toEqual(['u1']);
  });

  test('ask who it is when another person has signed in, and go on when the same one is back', () => {
    const [one, two] = openTabs(host(''), host('')) as [Session, Session];
    one.knowPerson(ada);
    two.knowPerson(ada);
    one.end();
    two.end();
    one.knowPerson(ada);
    expect(two.who).toMatchObject({ person: ada, isOver: false });
    one.knowPerson(bo);
    expect(two.who).toMatchObject({ person: undefined, isOver: false });
  });

  test('that wait for a sign-in look again when somebody has signed in', () => {
    const [one, two] = openTabs(host(''), host('')) as [Session, Session];
    two.knowPerson(null);
    one.knowPerson(ada);
    expect(two.who.person).toBeUndefined();
  });

  test('with an API key stay as they are, and tell nobody of it', () => {
    const keyed = host('', 'lsk_own');
    const [one, two] = openTabs(host(''), keyed) as [Session, Session];
    one.knowPerson(ada);
    one.signOut();
    expect(two.who).toMatchObject({ key: 'lsk_own', person: undefined });
    two.signOut();
    expect(keyed.told).toEqual([]);
  });
});
