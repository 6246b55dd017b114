/** The first step: the media to loop. A link is fetched from here on, while the rest is chosen. */
import { Button, Skeleton, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconLink, IconPlaylist, IconVideo } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { tidyUrl } from '../../../core/lib/pasted.ts';
import type { Upload } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import { Choices } from '../../ui/choices.tsx';
import forms from '../../ui/form.module.css';
import { useSubmit } from '../../ui/useSubmit.ts';
import type { StreamChoices } from '../streams/choices.ts';
import { listMediaItems, listPlaylistItems } from '../streams/editValues.ts';
import classes from './create.module.css';
import type { NewStream } from './draft.ts';
import { hasMedia, nameFrom } from './steps.ts';

const SOURCES = [
  { value: 'link', label: 'A link', icon: <IconLink size={22} stroke={1.6} aria-hidden /> },
  { value: 'upload', label: 'An upload', icon: <IconVideo size={22} stroke={1.6} aria-hidden /> },
  { value: 'playlist', label: 'A playlist', icon: <IconPlaylist size={22} stroke={1.6} aria-hidden /> },
] as const;

interface MediaStepProps {
  draft: NewStream;
  change: (more: Partial<NewStream>) => void;
  choices: StreamChoices;
  onNext: () => void;
}

const Next = ({ busy = false }: { busy?: boolean }) => (
  <div className={classes.buttons}>
    <Button type="submit" loading={busy}>
      Next
    </Button>
  </div>
);

/** A name that nobody has chosen follows the media. */
const named = (draft: NewStream, name: string): Partial<NewStream> =>
  draft.name === '' ? { name: nameFrom(name) } : {};

function FromLink({ draft, change, onNext }: MediaStepProps) {
  const { uploads } = useApi().calls;
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { url: draft.link },
    validate: { url: (value) => (tidyUrl(value) === '' ? 'Paste the link to a video file.' : null) },
    onValuesChange: ({ url }) => change({ link: url }),
  });
  const { submit, busy, problem } = useSubmit<{ url: string }, Upload>({
    send: ({ url }, idempotencyKey) => uploads.fromLink({ type: 'VIDEO', url: tidyUrl(url) }, { idempotencyKey }),
    fields: ['url'],
    onMistakes: form.setErrors,
    onDone: async (upload) => {
      change({ uploadID: upload.objectID, ...named(draft, upload.name) });
      onNext();
      await queries.invalidateQueries({ queryKey: ['uploads'] });
    },
  });
  return (
    <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
      <TextInput
        label="Link to the video"
        description="A public address of the file itself, not of a page that plays it. The file is fetched while you continue."
        placeholder="https://example.com/show.mp4"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('url')}
      />
      {problem && (
        <p className={forms.problem} role="alert">
          {problem}
        </p>
      )}
      <Next busy={busy} />
    </form>
  );
}

function FromChoice({ draft, change, choices, onNext }: MediaStepProps) {
  const isList = draft.source === 'playlist';
  const ticks = isList ? listPlaylistItems(choices.playlists, []) : listMediaItems(choices.uploads, draft.uploadID);
  const form = useForm({
    initialValues: {},
    validate: () => (hasMedia(draft) ? {} : { choice: isList ? 'Choose a playlist.' : 'Choose a video.' }),
  });
  const known = isList ? choices.playlists : choices.uploads;
  if (known === undefined) return <Skeleton height={120} radius="md" />;
  if (ticks.length === 0)
    return (
      <p className={classes.none}>
        {isList ? 'You have no playlist with videos yet. ' : 'You have no video yet. '}
        <Link to={isList ? '/playlists' : '/uploads'}>{isList ? 'Make a playlist' : 'Upload one'}</Link>, or paste a
        link.
      </p>
    );
  const choose = ([id = '']: string[]) => {
    const label = ticks.find(({ value }) => value === id)?.label ?? '';
    change({ ...(isList ? { playlistID: id } : { uploadID: id, link: '' }), ...named(draft, label) });
    form.clearErrors();
  };
  const chosen = isList ? draft.playlistID : draft.uploadID;
  return (
    <form className={forms.form} onSubmit={form.onSubmit(onNext)} noValidate>
      <CheckboxList
        single
        legend={isList ? 'Playlist' : 'Video'}
        name="choice"
        most={1}
        ticks={ticks}
        values={chosen ? [chosen] : []}
        onChange={choose}
        error={form.errors.choice}
      />
      <Next />
    </form>
  );
}

export function MediaStep(props: MediaStepProps) {
  const { draft, change } = props;
  return (
    <div className={forms.form}>
      <Choices
        legend="Media to loop"
        name="source"
        choices={SOURCES}
        value={draft.source}
        onChange={(source) => change({ source })}
      />
      {draft.source === 'link' ? <FromLink {...props} /> : <FromChoice {...props} />}
    </div>
  );
}
