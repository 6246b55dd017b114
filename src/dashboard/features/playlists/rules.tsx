/** The rules of a playlist: what else plays when, the most important first. They are saved with its clips, as one version. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconChevronDown, IconPlus, IconX } from '@tabler/icons-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { MAX_RULES } from '../../../core/resources/playlist/rule-limits.ts';
import type { Playlist } from '../../../service/client/index.ts';
import { formatUntil } from '../../lib/format.ts';
import { quote } from '../../lib/isolate.ts';
import { moveBy } from '../../lib/moveBy.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { usePlaylistChoices } from '../streams/choices.ts';
import { useCronWords } from '../streams/useCronWords.ts';
import { useUploadsById } from '../uploads/queries.ts';
import { freshKey } from './draft.ts';
import { useRuleMoments } from './queries.ts';
import { RuleFields } from './ruleFields.tsx';
import classes from './rules.module.css';
import { describeRule, describeTimes } from './ruleText.ts';
import { newRule, type RuleMistakes, type RuleRecord, type RuleValues, toRule } from './ruleValues.ts';
import { clipName } from './text.ts';

const LEAD =
  'What plays besides the clips: a jingle now and then, news at the hour, another list at night. Where two are due, the upper one plays first.';

/** Finds the name of what a rule plays. */
function useNameOf(rules: readonly RuleValues[]): (rule: RuleRecord) => string {
  const uploads = useUploadsById(rules.flatMap(({ source, uploadObjectID: id }) => (source === 'upload' && id) || []));
  const { data: playlists } = usePlaylistChoices();
  return ({ playlistID, uploadObjectID }) => {
    if (uploadObjectID !== undefined) return uploads ? quote(clipName(uploadObjectID, uploads)) : 'the upload';
    const name = playlists?.find(({ id }) => id === playlistID)?.name;
    return name === undefined ? 'another playlist' : quote(name);
  };
}

function Sentence({ rule, what }: { rule: RuleRecord; what: string }) {
  const { at, window } = rule.when;
  const words = useCronWords(describeTimes(rule.when) === undefined ? ((at ?? window)?.cron ?? '') : '');
  return <p className={classes.sentence}>{describeRule(rule, what, words)}</p>;
}

interface RuleProps {
  playlist: Pick<Playlist, 'id' | 'kind'>;
  values: RuleValues;
  what: string;
  mistakes: RuleMistakes;
  /** The next times on air, where it is on air. */
  moments: readonly string[];
  place: number;
  count: number;
  isOpen: boolean;
  onOpen: () => void;
  onMove: (by: 1 | -1) => void;
  onRemove: () => void;
  change: (more: Partial<RuleValues>) => void;
}

function Acts({
  name,
  place,
  count,
  onMove,
  onRemove,
}: Pick<RuleProps, 'place' | 'count' | 'onMove' | 'onRemove'> & { name: string }) {
  return (
    <div className={classes.acts}>
      <Tooltip label="More important">
        <ActionIcon data-by={-1} aria-label={`Move ${name} up`} disabled={place === 1} onClick={() => onMove(-1)}>
          <IconArrowUp size={17} stroke={1.8} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Less important">
        <ActionIcon data-by={1} aria-label={`Move ${name} down`} disabled={place === count} onClick={() => onMove(1)}>
          <IconArrowDown size={17} stroke={1.8} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Remove">
        <ActionIcon aria-label={`Remove ${name}`} onClick={onRemove}>
          <IconX size={17} stroke={1.8} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

function Rule({ playlist, values, what, mistakes, moments, isOpen, onOpen, change, ...acts }: RuleProps) {
  const name = values.name.trim() || 'new rule';
  const wrong = Object.values(mistakes)[0];
  return (
    <li className={classes.rule} data-testid="rule">
      <div className={classes.line}>
        <span className={page.dim}>{acts.place}</span>
        <button type="button" className={classes.head} aria-expanded={isOpen} onClick={onOpen}>
          <Name isCut>{name}</Name>
          <IconChevronDown size={16} aria-hidden />
        </button>
        <Acts name={name} {...acts} />
      </div>
      <div className={classes.words}>
        <Sentence rule={toRule(values)} what={what} />
        {moments.length > 0 && (
          <p className={page.dim} data-testid="moments">
            On air next: {moments.map((at) => formatUntil(at, Date.now())).join(', ')}
          </p>
        )}
        {wrong && !isOpen && (
          <p className={classes.error} role="alert">
            {wrong}
          </p>
        )}
      </div>
      {isOpen && <RuleFields playlist={playlist} values={values} mistakes={mistakes} change={change} />}
    </li>
  );
}

/** Keeps the focus where a rule went that was moved. */
function useMovedFocus(list: RefObject<HTMLOListElement | null>) {
  const [moved, setMoved] = useState<{ index: number; by: number }>();
  useEffect(() => {
    if (!moved) return;
    const row = list.current?.children[moved.index];
    const button = [`[data-by="${moved.by}"]`, '[data-by]']
      .map((which) => row?.querySelector<HTMLElement>(`button${which}:not(:disabled)`))
      .find((found) => found);
    button?.focus();
  }, [moved, list]);
  return setMoved;
}

interface RulesProps {
  playlist: Pick<Playlist, 'id' | 'kind' | 'streamID'>;
  rules: readonly RuleValues[];
  /** By place. */
  mistakes: ReadonlyMap<number, RuleMistakes>;
  edit: (rules: RuleValues[]) => void;
}

export function Rules({ playlist, rules, mistakes, edit }: RulesProps) {
  const [opened, setOpened] = useState<string>();
  const [said, setSaid] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const setMoved = useMovedFocus(list);
  const nameOf = useNameOf(rules);
  const moments = useRuleMoments(playlist, rules.length > 0);
  useAnnounceChange(said);
  const wrong = rules.find((_, index) => mistakes.has(index))?.key;
  useEffect(() => {
    if (wrong !== undefined) setOpened(wrong);
  }, [wrong]);
  const move = (index: number, by: 1 | -1) => {
    edit(moveBy(rules, index, by));
    setMoved({ index: index + by, by });
    setSaid(`${quote(rules[index]?.name ?? '')} is at place ${index + by + 1} of ${rules.length}.`);
  };
  const remove = (key: string) => {
    edit(rules.filter((rule) => rule.key !== key));
    add.current?.focus();
  };
  const append = () => {
    const key = freshKey(rules);
    edit([...rules, newRule(key)]);
    setOpened(key);
  };
  return (
    <section className={classes.rules} aria-label="Rules">
      <div className={classes.top}>
        <h2>Rules</h2>
        <Button
          ref={add}
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={rules.length >= MAX_RULES}
          onClick={append}
        >
          Add rule
        </Button>
      </div>
      <p className={page.dim}>{LEAD}</p>
      <ol ref={list} className={classes.list}>
        {rules.map((values, index) => (
          <Rule
            key={values.key}
            playlist={playlist}
            values={values}
            what={nameOf(toRule(values))}
            mistakes={mistakes.get(index) ?? {}}
            moments={moments?.get(values.name) ?? []}
            place={index + 1}
            count={rules.length}
            isOpen={opened === values.key}
            onOpen={() => setOpened(opened === values.key ? undefined : values.key)}
            onMove={(by) => move(index, by)}
            onRemove={() => remove(values.key)}
            change={(more) => edit(rules.map((one, at) => (at === index ? { ...one, ...more } : one)))}
          />
        ))}
      </ol>
    </section>
  );
}
