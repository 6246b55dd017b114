/** The last step: the name and the quality; then the stream is made, and goes on air as soon as it can. */
import { Button, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlayerPlayFilled } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { ProblemError, problems } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import forms from '../../ui/form.module.css';
import { useSubmit } from '../../ui/useSubmit.ts';
import { PriceLine } from '../billing/prices.tsx';
import { findLayersMistake } from '../overlays/layers.ts';
import { ChoiceFields } from '../streams/choiceFields.tsx';
import type { StreamChoices } from '../streams/choices.ts';
import { CHOICE_FIELDS, type ChoiceValues, pickChoices } from '../streams/choiceValues.ts';
import { LoudnessField } from '../streams/loudnessField.tsx';
import { OverlaysSection } from '../streams/overlaysSection.tsx';
import { notifyRefused } from '../streams/queries.ts';
import { CheckResult } from './checkResult.tsx';
import classes from './create.module.css';
import type { NewStream } from './draft.ts';
import { makePlaylists } from './makePlaylists.ts';
import { buildBody, listAskedChoices, listPlannedPlaylists, toSceneMedia } from './steps.ts';
import type { StreamProfile } from './suggestProfile.ts';
import type { DestinationCheck } from './useDestinationCheck.ts';

type StreamStepValues = ChoiceValues & Pick<NewStream, 'name' | 'loudness' | 'overlays'>;

interface Order {
  draft: NewStream;
  start: boolean;
}

interface StreamStepProps {
  draft: NewStream;
  change: (more: Partial<NewStream>) => void;
  choices: StreamChoices;
  check: DestinationCheck;
  /** Fits the media. */
  suggested: StreamProfile;
  /** Why the stream cannot be made yet: its files are not known to the server. */
  filesProblem: string | undefined;
  /** That problem passes by itself. */
  isBeginning: boolean;
  onBack: () => void;
  onDone: (stream: Stream, started: boolean) => unknown;
}

/** A refusal stands in the way of starting alone: the stream is made by then, and not to be made again. */
const mayBeTriedAgain = (error: unknown): boolean =>
  !(error instanceof ProblemError) || error.isPassing || error instanceof problems.Unauthenticated;

const FIELDS = [
  'name',
  ...CHOICE_FIELDS,
  'loudness',
  'overlays',
  'destinationIDs',
  'videoUploadObjectID',
  'playlistIDs',
  'audioPlaylistIDs',
];

/** The form follows what is suggested until a person chooses. */
function useStreamForm({ draft, change, suggested }: Pick<StreamStepProps, 'draft' | 'change' | 'suggested'>) {
  const { name, loudness, overlays, isProfileChosen } = draft;
  const isFree = isProfileChosen === '';
  const form = useForm<StreamStepValues>({
    initialValues: { name, loudness, overlays, ...pickChoices(draft), ...(isFree && suggested) },
    validate: { name: (given) => (given.trim() === '' ? 'Enter a name.' : null), overlays: findLayersMistake },
    onValuesChange: (values) => {
      const { quality, framerate } = values;
      const isChosen = !isFree || quality !== suggested.quality || framerate !== suggested.framerate;
      change({ ...values, isProfileChosen: isChosen ? 'yes' : '' });
    },
  });
  const { quality, framerate } = suggested;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form itself is a new one with each rendering.
  useEffect(() => {
    if (isFree) form.setValues({ quality, framerate });
  }, [quality, framerate]);
  return form;
}

export function StreamStep(props: StreamStepProps) {
  const { draft, change, choices, check, suggested, filesProblem, isBeginning, onBack, onDone } = props;
  const { streams, playlists } = useApi().calls;
  const [isEarly, setEarly] = useState(false);
  /** Set when a button was pressed before the server knew all files: to start, or to make the stream alone. */
  const [awaited, setAwaited] = useState<boolean>();
  const form = useStreamForm({ draft, change, suggested });
  const { submit, busy, problem } = useSubmit<Order, { stream: Stream; started: boolean }>({
    send: async ({ draft: wanted, start }, idempotencyKey) => {
      const made = await makePlaylists(wanted, listPlannedPlaylists(wanted), playlists, idempotencyKey);
      const stream = await streams.create(buildBody(wanted, made), { idempotencyKey });
      if (!start) return { stream, started: false };
      // Sent again after its answer was lost, it finds the stream that it has made, and starts that.
      await check.ended();
      try {
        return { stream: await streams.start(stream.id, { whenReady: true }), started: true };
      } catch (error) {
        if (mayBeTriedAgain(error)) throw error;
        notifyRefused(stream.name, 'start', error);
        return { stream, started: false };
      }
    },
    made: ({ draft: wanted }) => wanted,
    fields: FIELDS,
    onMistakes: form.setErrors,
    onDone: ({ stream, started }) => onDone(stream, started),
  });
  const send = (start: boolean) => (values: StreamStepValues) => {
    setEarly(filesProblem !== undefined);
    if (filesProblem === undefined) submit({ draft: { ...draft, ...values }, start });
    else if (isBeginning) setAwaited(start);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is sent once, when the files are known.
  useEffect(() => {
    if (awaited === undefined || isBeginning) return;
    setAwaited(undefined);
    form.onSubmit(send(awaited))();
  }, [awaited, isBeginning]);
  const isWaiting = busy || awaited !== undefined;
  const elsewhere = form.errors.destinationIDs ?? form.errors.videoUploadObjectID ?? form.errors.playlistIDs;
  const complaint = (isEarly ? filesProblem : undefined) ?? problem ?? elsewhere;
  return (
    <form className={forms.form} onSubmit={form.onSubmit(send(true))} noValidate>
      <TextInput
        label="Name"
        description="For you only. Viewers see the title that the platform shows."
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <div className={classes.pair}>
        <ChoiceFields fields={listAskedChoices(draft)} getInputProps={form.getInputProps} />
      </div>
      <LoudnessField before={draft.loudness} props={form.getInputProps('loudness')} />
      <OverlaysSection
        value={form.values.overlays}
        onChange={(overlays) => form.setFieldValue('overlays', overlays)}
        error={form.errors.overlays}
        choices={choices}
        media={toSceneMedia({ ...draft, name: form.values.name })}
      />
      <PriceLine {...form.values} />
      <CheckResult check={check} id={draft.destinationID} />
      {complaint && (
        <p className={forms.problem} role="alert">
          {complaint}
        </p>
      )}
      <div className={classes.buttons}>
        <Button variant="default" onClick={onBack} disabled={busy}>
          Back
        </Button>
        <Button variant="default" disabled={isWaiting} onClick={() => form.onSubmit(send(false))()}>
          Create only
        </Button>
        <Button type="submit" loading={isWaiting} leftSection={<IconPlayerPlayFilled size={15} aria-hidden />}>
          Create and start
        </Button>
      </div>
    </form>
  );
}
