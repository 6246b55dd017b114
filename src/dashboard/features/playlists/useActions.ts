import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { isSameJson } from '../../../core/lib/json-equal.ts';
import { type Playlist, type PlaylistUpdate, problems } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { quote } from '../../lib/isolate.ts';
import { findFieldErrors } from '../../ui/fieldErrors.ts';
import { usePlaylistMutations } from './queries.ts';
import { notifyRestored, RESTORED } from './restored.tsx';
import { findRulesMistakes, listRuleFields, pickRuleMistakes, type RuleMistakes, toRules } from './ruleValues.ts';
import type { Editing } from './useEditing.ts';

export type PlaylistActs = ReturnType<typeof useActions>;

const refused = (title: string) => (error: unknown) =>
  notifications.show({ color: 'red', autoClose: 12_000, withBorder: true, title, message: problemText(error) });

/** Finds the mistakes of rules by place: those of the server stay until their rule is changed. */
function findMistakes(
  { base, rules }: Editing['draft'],
  isTried: boolean,
  sent: PlaylistUpdate | undefined,
  fields: Readonly<Record<string, string>>,
): Map<number, RuleMistakes> {
  const found = isTried ? findRulesMistakes(rules) : new Map<number, RuleMistakes>();
  for (const [index, rule] of toRules(rules, base.rules).entries()) {
    const place = sent?.rules?.findIndex((one) => isSameJson(one, rule)) ?? -1;
    const mistakes = place < 0 ? {} : pickRuleMistakes(fields, place);
    if (Object.keys(mistakes).length > 0) found.set(index, { ...mistakes, ...found.get(index) });
  }
  return found;
}

/** Saving, publishing and restoring, with the questions before them. */
export function useActions(playlist: Playlist, editing: Editing, refetch: () => unknown) {
  const { save, publish, rollback, isActing } = usePlaylistMutations(playlist.id);
  const [asked, setAsked] = useState<number>();
  const [isTried, setTried] = useState(false);
  // Its button asks a question on this page.
  useEffect(() => () => void notifications.hide(RESTORED), []);
  const announce = (after: Playlist, title: string) =>
    notifications.show({ title, message: `${quote(after.name)} is at version ${after.version} now.` });
  const publishNow = (version: number) =>
    !isActing() && publish.mutate(version, { onError: refused(`Version ${version} was not published`) });
  // Nobody notices a change that no stream plays, so there is nothing to ask then.
  const askToPublish = (version: number) => (playlist.streamID === '' ? publishNow(version) : setAsked(version));
  const saveThen = (then: (after: Playlist) => void) => {
    const { update, draft } = editing;
    if (!update || isActing()) return;
    const isWrong = findRulesMistakes(draft.rules).size > 0;
    setTried(isWrong);
    if (isWrong) return;
    save.mutate(update.name === undefined ? update : { ...update, name: draft.name.trim() }, {
      onSuccess: (after) => {
        editing.discard();
        then(after);
      },
      onError: (error) => {
        if (error instanceof problems.PlaylistVersionConflict) void refetch();
      },
    });
  };
  const isConflict = save.error instanceof problems.PlaylistVersionConflict;
  const names = ['name', ...listRuleFields(save.variables?.rules ?? [])];
  const mistakes = save.error && !isConflict ? findFieldErrors(save.error, names) : undefined;
  const ruleMistakes = findMistakes(editing.draft, isTried, save.variables, mistakes?.fields ?? {});
  return {
    asked,
    answer: () => setAsked(undefined),
    publishNow,
    askToPublish,
    discard: () => {
      save.reset();
      setTried(false);
      editing.discard();
    },
    save: () => saveThen((after) => announce(after, 'Saved')),
    saveAndPublish: () => saveThen(({ version }) => askToPublish(version)),
    rollback: (version: number) =>
      !isActing() &&
      rollback.mutate(version, {
        onSuccess: (after) => notifyRestored({ restored: version, after, publish: () => askToPublish(after.version) }),
        onError: refused(`Version ${version} was not restored`),
      }),
    saving: save.isPending,
    busy: save.isPending || publish.isPending || rollback.isPending,
    nameError: editing.draft.name.trim() === '' ? 'Enter a name.' : mistakes?.fields.name,
    ruleMistakes,
    problem:
      mistakes?.rest ?? (ruleMistakes.size > 0 ? 'A rule has a mistake. Correct it, then save again.' : undefined),
  };
}
