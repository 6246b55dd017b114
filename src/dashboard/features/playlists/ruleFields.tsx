/** The fields of one rule of a playlist: what it plays, when, and how. */
import { NativeSelect, NumberInput, Skeleton, TextInput } from '@mantine/core';
import { useDeferredValue } from 'react';
import type { Playlist, Upload } from '../../../service/client/index.ts';
import { Choices } from '../../ui/choices.tsx';
import { SearchChoice } from '../../ui/searchChoice.tsx';
import { useUploadChoices } from '../overlays/useUploadChoices.ts';
import { usePlaylistChoices } from '../streams/choices.ts';
import scheduleClasses from '../streams/schedule.module.css';
import { type Repeat, scheduleBody, switchRepeat, toSchedule } from '../streams/schedule.ts';
import { Recurring, type ScheduleFormState } from '../streams/scheduleFields.tsx';
import { useWindows } from '../streams/useWindows.ts';
import { WindowList } from '../streams/windowList.tsx';
import { fits } from './picker.tsx';
import classes from './rules.module.css';
import { findRuleMistakes, type RuleMistakes, type RuleValues } from './ruleValues.ts';

const SOURCES = [
  { value: 'playlist', label: 'Clips of a playlist' },
  { value: 'upload', label: 'One upload' },
] as const;
const WHENS = [
  { value: 'every', label: 'Every so often' },
  { value: 'each', label: 'After some clips' },
  { value: 'at', label: 'At times' },
  { value: 'window', label: 'For a while' },
] as const;
const REPEATS = [
  { value: 'weekly', label: 'On days' },
  { value: 'cron', label: 'Cron' },
] as const satisfies { value: Repeat; label: string }[];
const UNITS = [
  { value: '1', label: 'seconds' },
  { value: '60', label: 'minutes' },
  { value: '3600', label: 'hours' },
];
const STARTS = [
  { value: 'Border', label: 'At the end of the clip that plays' },
  { value: 'Cut', label: 'At once: the clip that plays is cut' },
];
const AFTERS = [
  { value: 'Resume', label: 'Goes on where it was cut' },
  { value: 'Next', label: 'Does not go on: the next one plays' },
  { value: 'Restart', label: 'Begins again' },
];
const PICKS = [
  { value: 'Next', label: 'In order, from where it stopped' },
  { value: 'Shuffle', label: 'Shuffled' },
];
const WHOLE = { hideControls: true, clampBehavior: 'none', allowDecimal: false, allowNegative: false } as const;

interface RuleFieldsProps {
  /** The playlist that the rule belongs to. */
  playlist: Pick<Playlist, 'id' | 'kind'>;
  values: RuleValues;
  mistakes: RuleMistakes;
  change: (more: Partial<RuleValues>) => void;
}

type Given = string | number | { currentTarget: { value: string } };

/** Connects inputs with the values, as a form of Mantine does with its own. */
function connect({ values, mistakes, change }: Omit<RuleFieldsProps, 'playlist'>) {
  return (field: keyof RuleValues) => ({
    value: values[field] as never,
    error: mistakes[field],
    onChange: (given: Given) => change({ [field]: typeof given === 'object' ? given.currentTarget.value : given }),
  });
}

interface Choice {
  value: string;
  label: string;
}

/** One that is chosen stays on the list, also where it is deleted or older than what is listed. */
const withChosen = (choices: readonly Choice[], chosen: string, noun: string): readonly Choice[] =>
  chosen === '' || choices.some(({ value }) => value === chosen)
    ? choices
    : [{ value: chosen, label: `${noun} …${chosen.slice(-6)}` }, ...choices];

const listUploads = (kind: Playlist['kind'], uploads: readonly Upload[]): Choice[] =>
  uploads.filter((one) => fits(kind, one)).map(({ objectID, name }) => ({ value: objectID, label: name }));

function Source({ playlist: { id, kind }, ...props }: RuleFieldsProps) {
  const { values, mistakes, change } = props;
  const { data: uploads } = useUploadChoices();
  const { data: playlists } = usePlaylistChoices();
  if (!uploads || !playlists) return <Skeleton height={62} />;
  if (values.source === 'upload')
    return (
      <SearchChoice
        key="upload"
        label="Upload"
        description="Type a part of its name."
        choices={withChosen(listUploads(kind, uploads), values.uploadObjectID, 'Upload')}
        value={values.uploadObjectID}
        onChange={(uploadObjectID) => change({ uploadObjectID })}
        error={mistakes.uploadObjectID}
        none="No upload that fits has this name."
      />
    );
  const lists = playlists.filter((one) => one.kind === kind && one.id !== id);
  return (
    <SearchChoice
      key="playlist"
      label="Playlist"
      description="Type a part of its name. Its own rules do not hold."
      choices={withChosen(
        lists.map((one) => ({ value: one.id, label: one.name })),
        values.playlistID,
        'Playlist',
      )}
      value={values.playlistID}
      onChange={(playlistID) => change({ playlistID })}
      error={mistakes.playlistID}
      none="No other playlist of this kind has this name."
    />
  );
}

/** The next times of a rule that has some, while it is being made. */
function Times({ values }: { values: RuleValues }) {
  const shown = useDeferredValue(values);
  const { days, time, until, cron, hours, minutes } = findRuleMistakes(shown, []);
  const isComplete = [days, time, until, cron, hours, minutes].every((mistake) => mistake === undefined);
  const schedule = useWindows(isComplete ? toSchedule(scheduleBody(shown)) : undefined);
  if (!schedule) return null;
  const windows =
    shown.when === 'window'
      ? schedule.windows
      : schedule.windows.filter(({ isOpen }) => !isOpen).map((window) => ({ ...window, endAt: null }));
  return (
    <section className={scheduleClasses.preview} aria-live="polite">
      <h3>Next times</h3>
      <WindowList label="Next times" windows={windows} timeZone={shown.timeZone} testId="rule-times" />
      {windows.length === 0 && schedule.notes.map((note) => <p key={note}>{note}</p>)}
    </section>
  );
}

function When(props: Omit<RuleFieldsProps, 'playlist'>) {
  const { values, mistakes, change } = props;
  const bind = connect(props);
  if (values.when === 'every')
    return (
      <div className={`${classes.row} ${classes.short}`}>
        <NumberInput label="Every" {...WHOLE} {...bind('every')} />
        <NativeSelect label="Unit" data={UNITS} {...bind('unit')} />
      </div>
    );
  if (values.when === 'each') return <NumberInput label="Clips in between" {...WHOLE} {...bind('each')} />;
  const times: ScheduleFormState = {
    ...{ values, errors: mistakes, getInputProps: bind },
    setFieldValue: (field, next) => change({ [field]: next }),
    getInitialValues: () => values,
  };
  return (
    <>
      <Choices
        legend="Times"
        name="rule-repeat"
        choices={REPEATS}
        value={values.repeat === 'cron' ? 'cron' : 'weekly'}
        onChange={(next) => change(switchRepeat(values, next))}
      />
      <Recurring form={times} isMoment={values.when === 'at'} />
      <Times values={values} />
    </>
  );
}

function How(props: Omit<RuleFieldsProps, 'playlist'>) {
  const { when, start, source } = props.values;
  const bind = connect(props);
  const canCut = when !== 'each';
  return (
    <>
      <div className={classes.row}>
        {canCut && <NativeSelect label="Starts" data={STARTS} {...bind('start')} />}
        {canCut && start === 'Cut' && <NativeSelect label="The clip that was cut" data={AFTERS} {...bind('after')} />}
        {source === 'playlist' && <NativeSelect label="Its clips" data={PICKS} {...bind('pick')} />}
      </div>
      {when !== 'window' && (
        <div className={`${classes.row} ${classes.short}`}>
          <NumberInput label="Clips in a row" {...WHOLE} {...bind('count')} />
          <NumberInput
            label="Late by at most (s)"
            description="Later than this, it is left out."
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            {...WHOLE}
            {...bind('late')}
          />
        </div>
      )}
    </>
  );
}

export function RuleFields(props: RuleFieldsProps) {
  const { values, change } = props;
  return (
    <div className={classes.fields}>
      <TextInput
        label="Name of the rule"
        autoComplete="off"
        autoFocus={values.name === ''}
        {...connect(props)('name')}
      />
      <Choices
        legend="Plays"
        name="rule-source"
        choices={SOURCES}
        value={values.source}
        onChange={(source) => change({ source })}
      />
      <Source {...props} />
      <Choices
        legend="When"
        name="rule-when"
        choices={WHENS}
        value={values.when}
        onChange={(when) => change({ when })}
      />
      <When {...props} />
      <How {...props} />
    </div>
  );
}
