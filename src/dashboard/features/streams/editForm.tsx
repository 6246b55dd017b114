/** A stream changed in place. Only changed fields are sent, so that the changes of another tab stay. */
import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { StreamChange, StreamUpdate } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { quote } from '../../lib/isolate.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useTriedSubmit } from '../../ui/useTriedSubmit.ts';
import { PriceLine } from '../billing/prices.tsx';
import { findLayersMistake } from '../overlays/layers.ts';
import { useStorageSentence } from '../overlays/useStorageSentence.ts';
import { CardsField } from './cardsField.tsx';
import { ChoiceFields } from './choiceFields.tsx';
import { type StreamChoices, useChoices } from './choices.ts';
import { CHOICE_FIELDS } from './choiceValues.ts';
import { listEditEffects } from './editEffects.ts';
import { type EditValues, findChanges, listMediaItems, listPlaylistItems, toEditValues } from './editValues.ts';
import { LABELS } from './fields.ts';
import { LoudnessField } from './loudnessField.tsx';
import { OffAirQuestion } from './offAirQuestion.tsx';
import { OverlaysSection } from './overlaysSection.tsx';
import { isRunning } from './phase.ts';
import { SlateField } from './slateField.tsx';

const FIELDS = Object.keys(LABELS);
const PICTURE = ['quality', 'framerate'] as const;
const PLAYING = CHOICE_FIELDS.filter((field) => !PICTURE.some((one) => one === field));
const MOST_DESTINATIONS = 5;
const MOST_PLAYLISTS = 20;

/** A person who has no audio playlist is not asked about them. */
function Sound({ form, choices }: { form: EditFormState; choices: StreamChoices }) {
  const { audioPlaylistIDs } = form.values;
  const ticks = listPlaylistItems(choices.playlists, audioPlaylistIDs, 'audio');
  if (ticks.length === 0) return null;
  return (
    <>
      <CheckboxList
        legend="Audio playlists to play instead of the video’s own sound"
        name="audio"
        most={MOST_PLAYLISTS}
        ticks={ticks}
        values={audioPlaylistIDs}
        onChange={(ids) => form.setFieldValue('audioPlaylistIDs', ids)}
        error={form.errors.audioPlaylistIDs}
      />
      {audioPlaylistIDs.length > 0 && (
        <CardsField
          value={form.values.cards}
          onChange={(cards) => form.setFieldValue('cards', cards)}
          error={form.errors.cards}
          uploads={choices.uploads}
        />
      )}
    </>
  );
}

const KINDS = [
  { value: 'video', label: 'One video' },
  { value: 'playlists', label: 'Playlists' },
] as const;

type EditFormState = UseFormReturnType<EditValues>;

function Media({ form, choices }: { form: EditFormState; choices: StreamChoices }) {
  const { kind, videoUploadObjectID, playlistIDs } = form.values;
  return (
    <>
      <Choices
        legend="Media to loop"
        name="kind"
        choices={KINDS}
        value={kind}
        onChange={(next) => form.setFieldValue('kind', next)}
      />
      {kind === 'video' ? (
        <CheckboxList
          single
          legend="Video"
          name="video"
          most={1}
          ticks={listMediaItems(choices.uploads, videoUploadObjectID)}
          values={videoUploadObjectID ? [videoUploadObjectID] : []}
          onChange={([id = '']) => form.setFieldValue('videoUploadObjectID', id)}
          error={form.errors.videoUploadObjectID}
        />
      ) : (
        <CheckboxList
          legend="Playlists, played one after the other"
          name="playlists"
          most={MOST_PLAYLISTS}
          ticks={listPlaylistItems(choices.playlists, playlistIDs)}
          values={playlistIDs}
          onChange={(ids) => form.setFieldValue('playlistIDs', ids)}
          error={form.errors.playlistIDs}
        />
      )}
    </>
  );
}

const validate = {
  name: (name: string) => (name.trim() === '' ? 'Enter a name.' : null),
  destinationIDs: (ids: string[]) => (ids.length === 0 ? 'Choose a destination.' : null),
  videoUploadObjectID: (id: string, { kind }: EditValues) =>
    kind === 'video' && id === '' ? 'Choose the video to loop.' : null,
  overlays: findLayersMistake,
  playlistIDs: (ids: string[], { kind }: EditValues) =>
    kind === 'playlists' && ids.length === 0 ? 'Choose a playlist.' : null,
};

const describeEnds = ({ takesOffAir, lostDestinationIDs }: StreamChange, names: string): string => {
  const receive = lostDestinationIDs.length === 1 ? 'receives' : 'receive';
  return takesOffAir
    ? `Now only ${names} ${receive} this stream. Saving ends it there.`
    : `Now ${names} ${receive} this stream. Saving ends it there, and it stays on air at the others.`;
};

interface EditFormProps {
  stream: Stream;
  onClose: () => void;
  onDone: (stream: Stream) => unknown;
}

export function EditForm({ stream, onClose, onDone }: EditFormProps) {
  const { streams } = useApi().calls;
  const choices = useChoices();
  const { form, forgetBefore, elsewhere } = useDraftForm<EditValues>({
    name: `stream ${stream.id}`,
    initialValues: toEditValues(stream),
    validate,
  });
  const finish = forgetBefore(onDone);
  const { submit, busy, problem, question, answer, dismiss } = useTriedSubmit<StreamUpdate, StreamChange>({
    send: (changes, call) => streams.update(stream.id, changes, call),
    asks: ({ lostDestinationIDs }) => lostDestinationIDs.length > 0,
    fields: FIELDS,
    onMistakes: form.setErrors,
    onDone: finish,
  });
  const save = (values: EditValues) => {
    const changes = findChanges(form.getInitialValues(), values);
    if (Object.keys(changes).length === 0) finish(stream);
    else submit(changes);
  };
  const cancel = forgetBefore(onClose);
  const formatNames = (ids: readonly string[]) =>
    ids.map((id) => quote(choices.destinations?.find((one) => one.id === id)?.name ?? id)).join(', ');
  const destinations = (choices.destinations ?? []).map(({ id, name, rtmpUrl }) => ({
    value: id,
    label: name,
    hint: rtmpUrl,
  }));
  const changes = findChanges(form.getInitialValues(), form.values);
  const storage = useStorageSentence(['stream', stream.id], changes, (given, signal) =>
    streams.update(stream.id, given, { dryRun: true, signal }),
  );
  const effects = [...listEditEffects(changes, isRunning(stream.status)), ...(storage ? [storage] : [])];
  return (
    <>
      <Dialog title="Edit stream" onClose={cancel} busy={busy} wide>
        <form className={forms.form} onSubmit={form.onSubmit(save)} noValidate>
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
          <ChoiceFields fields={PICTURE} getInputProps={form.getInputProps} />
          <PriceLine {...form.values} />
          <Media form={form} choices={choices} />
          <Sound form={form} choices={choices} />
          <LoudnessField before={form.getInitialValues().loudness} props={form.getInputProps('loudness')} />
          <OverlaysSection
            value={form.values.overlays}
            onChange={(overlays) => form.setFieldValue('overlays', overlays)}
            error={form.errors.overlays}
            choices={choices}
            media={form.values}
            posterUrl={stream.posterUrl}
          />
          <SlateField
            value={form.values.slateUploadObjectID}
            uploads={choices.uploads}
            props={form.getInputProps('slateUploadObjectID')}
          />
          <ChoiceFields fields={PLAYING} getInputProps={form.getInputProps} />
          <CheckboxList
            legend="Destinations"
            name="destinations"
            most={MOST_DESTINATIONS}
            ticks={destinations}
            values={form.values.destinationIDs}
            onChange={(ids) => form.setFieldValue('destinationIDs', ids)}
            error={form.errors.destinationIDs}
          />
          <ChangedElsewhere fields={elsewhere} labels={LABELS} />
          <FormEnd problem={problem} busy={busy} onCancel={cancel} effects={effects}>
            Save
          </FormEnd>
        </form>
      </Dialog>
      {question && (
        <OffAirQuestion
          title={
            question.change.takesOffAir
              ? `Take ${quote(stream.name)} off air?`
              : `End ${quote(stream.name)} at a destination?`
          }
          keep="Keep on air"
          onKeep={dismiss}
          onSave={() => answer(question.values)}
          onClose={dismiss}
        >
          {describeEnds(question.change, formatNames(question.change.lostDestinationIDs))}
        </OffAirQuestion>
      )}
    </>
  );
}
