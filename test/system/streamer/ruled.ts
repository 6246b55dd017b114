/** Builds a shuffled list of numbered clips of unequal lengths, two of each artist, with a rule of each kind. */
import { join } from 'node:path';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { PlayedRule, ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import type { Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { makeNumbered } from './numbered.ts';

/** Lengths in frames: 3 to 20 s. */
export const FRAMES: Readonly<Record<string, number>> = {
  ...{ a: 91, b: 180, c: 333, d: 600, e: 247, f: 151 },
  ...{ news: 97, spot: 131, jingle1: 92, jingle2: 119, night1: 95, night2: 277, day1: 173, day2: 404, late: 101 },
};
export const IDS = Object.keys(FRAMES);

export const makeRuled = (studio: Studio): Promise<Record<string, ProgramItem>> =>
  makeNumbered(join(studio.root, 'storage'), FRAMES);

interface Window {
  cron: string;
  seconds: number;
}

export interface Pace {
  everySeconds: number;
  eachItems: number;
  /** As a cron expression. */
  at: string;
  night: Window;
  day: Window;
  /** A later version has one more rule. */
  version?: number;
}

const rule = (given: Partial<PlayedRule> & Pick<PlayedRule, 'name' | 'when' | 'items'>): PlayedRule => ({
  ...{ start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
  ...given,
});

export function buildRuled(clips: Record<string, ProgramItem>, pace: Pace): Program {
  const { everySeconds, eachItems, at, night, day, version = 1 } = pace;
  const pick = (...ids: string[]): ProgramItem[] => ids.map((id) => clips[id] as ProgramItem);
  const open = ({ cron, seconds }: Window) => ({ window: { cron, timeZone: 'UTC', durationSeconds: seconds } });
  const items = pick('a', 'b', 'c', 'd', 'e', 'f');
  const rules = [
    rule({ name: 'news', when: { everySeconds }, start: 'Cut', items: pick('news') }),
    rule({ name: 'spot', when: { at: { cron: at, timeZone: 'Europe/Berlin' } }, items: pick('spot') }),
    rule({ name: 'jingle', when: { eachItems }, pick: 'Shuffle', items: pick('jingle1', 'jingle2') }),
    rule({ name: 'night', when: open(night), items: pick('night1', 'night2') }),
    rule({ name: 'day', when: open(day), start: 'Cut', items: pick('day1', 'day2') }),
    ...(version > 1 ? [rule({ name: 'late', when: { eachItems: 1 }, items: pick('late') })] : []),
  ];
  const apart = { least: 1, groups: [1, 1, 2, 2, 3, 3] };
  return buildProgram(items, { version, video: { mode: 'shuffle', items, apart, rules } });
}
