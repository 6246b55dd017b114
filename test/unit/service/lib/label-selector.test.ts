/** Tests label selectors: the words of `kubectl get -l`, and what they hold of. */
import { describe, expect, test } from 'vitest';
import { fulfils, parseSelector } from '../../../../src/service/lib/label-selector.ts';

const OBJECTS: Record<string, Record<string, string>> = {
  news: { team: 'news', env: 'prod' },
  sport: { team: 'sport' },
  bare: {},
  empty: { team: '' },
};

const select = (selector: string): string[] => {
  const requirements = parseSelector(selector);
  return Object.entries(OBJECTS).flatMap(([name, labels]) =>
    requirements.every((one) => fulfils(labels[one.name], one)) ? [name] : [],
  );
};

describe('a selector', () => {
  test.each([
    ['team=news', ['news']],
    ['team==news', ['news']],
    [' team = news ', ['news']],
    ['team!=news', ['sport', 'bare', 'empty']],
    ['team in (news, sport)', ['news', 'sport']],
    ['team notin (news,sport)', ['bare', 'empty']],
    ['team', ['news', 'sport', 'empty']],
    ['!team', ['bare']],
    ['team=', ['empty']],
    ['team,env=prod', ['news']],
    ['team in (news,sport),!env', ['sport']],
  ])('%s holds of %j, as in Kubernetes', (selector, names) => expect(select(selector)).toEqual(names));

  test.each([
    '',
    ',',
    'team=news,',
    'team in news',
    'team in (news',
    'team of (news)',
    'a/b=c',
    'loopstream.dev/account=a',
    'team=a b',
    '-team=a',
    `${'a'.repeat(64)}=b`,
    `team=${'a'.repeat(64)}`,
    'team=a=b',
    'team in (a))',
  ])('%j is refused', (selector) => expect(() => parseSelector(selector)).toThrow(/^(must|has)/));
});
