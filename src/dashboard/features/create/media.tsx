/** The first step: the media to loop. A file is sent and a link is fetched from here on, while the rest is chosen. */
import { Button, Skeleton, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconLink, IconPlaylist, IconUpload, IconVideo } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { tidyUrl } from '../../../core/lib/pasted.ts';
import type { Upload } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import { Choices } from '../../ui/choices.tsx';
import forms from '../../ui/form.module.css';
import { useSubmit } from '../../ui/useSubmit.ts';
import type { StreamChoices } from '../streams/choices.ts';
import { listMediaItems, listPlaylistItems } from '../streams/editValues.ts';
import { DropZone } from '../uploads/dropZone.tsx';
import { useFiles, useSend } from '../uploads/sending.tsx';
import classes from './create.module.css';
import type { DraftFile, NewStream } from './draft.ts';
import type { FileState } from './fileState.ts';
import { FileLines, toDraftFile } from './files.tsx';
import { describePlan, hasMedia, nameFrom, planFiles, renamed } from './steps.ts';

const ICON = { size: 22, stroke: 1.6, 'aria-hidden': true } as const;
const SOURCES = [
  { value: 'file', label: 'Your own file', icon: <IconUpload {...ICON} /> },
  { value: 'link', label: 'A link', icon: <IconLink {...ICON} /> },
  { value: 'upload', label: 'An upload', icon: <IconVideo {...ICON} /> },
  { value: 'playlist', label: 'A playlist', icon: <IconPlaylist {...ICON} /> },
] as const;

interface MediaStepProps {
  draft: NewStream;
  change: (more: Partial<NewStream>) => void;
  choices: StreamChoices;
  states: readonly FileState[];
  onNext: () => void;
  /** The word of the button that ends the step. */
  next?: string;
}

const Next = ({ busy = false, children = 'Next' }: { busy?: boolean; children?: string | undefined }) => (
  <div className={classes.buttons}>
    <Button type="submit" loading={busy}>
      {children}
    </Button>
  </div>
);

const uniteFiles = (before: readonly DraftFile[], more: readonly DraftFile[]): DraftFile[] => [
  ...before,
  ...more.filter(({ id }, at) => [...before, ...more.slice(0, at)].every((one) => one.id !== id)),
];

function FromFile({ draft, change, states, onNext, next: word }: MediaStepProps) {
  const send = useSend();
  const sender = useFiles()?.sender;
  const picker = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  const { files } = draft;
  const plan = planFiles(files);
  const setFiles = (next: DraftFile[]) => {
    setProblem(undefined);
    change({ files: next, ...renamed(draft, nameFrom(planFiles(next).pictures[0]?.name ?? '')) });
  };
  const add = (chosen: File[]) => {
    const next = uniteFiles(files, chosen.map(toDraftFile));
    // A file that the server has whole is not sent again.
    const known = new Set(files.filter((_, at) => states[at]?.state === 'sent').map(({ id }) => id));
    send(chosen.filter((file) => !known.has(toDraftFile(file).id)));
    setFiles(next);
    // One video leaves nothing to choose in this step.
    if (files.length === 0 && next.length === 1 && next[0]?.type === 'VIDEO') onNext();
  };
  const remove = ({ id }: DraftFile) => {
    setFiles(files.filter((one) => one.id !== id));
    // The server deletes the part that it has. A file that was sent whole stays under Uploads.
    sender?.giveUp(id).catch(() => undefined);
  };
  const submit = () => {
    if (hasMedia(draft)) {
      change(renamed(draft, nameFrom(plan.pictures[0]?.name ?? '')));
      return onNext();
    }
    setProblem(files.length > 0 ? 'Add a video or a picture first.' : 'Choose a file first.');
  };
  const words = describePlan(plan);
  return (
    <form
      className={forms.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      noValidate
    >
      {files.length > 0 && <FileLines files={files} states={states} onRemove={remove} />}
      {words && (
        <p className={classes.none} role="status">
          {words}
        </p>
      )}
      <DropZone
        picker={picker}
        onFiles={add}
        title={files.length > 0 ? 'Drop more files here' : 'Drop your video here'}
        button={files.length > 0 ? 'Add files' : 'Choose a file'}
        hint={
          files.length > 0
            ? 'Several videos play in turn. Sounds play over the pictures.'
            : 'A video, a picture, or several files that play in turn. Go on while they are sent.'
        }
      />
      {problem && (
        <p className={forms.problem} role="alert">
          {problem}
        </p>
      )}
      <Next>{word}</Next>
    </form>
  );
}

function FromLink({ draft, change, choices, onNext, next }: MediaStepProps) {
  const { uploads } = useApi().calls;
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { url: draft.link },
    validate: { url: (value) => (tidyUrl(value) === '' ? 'Paste the link to a video file.' : null) },
    onValuesChange: ({ url }) => change({ link: url }),
  });
  const { submit, busy, problem } = useSubmit<{ url: string }, { upload: Upload; link: string }>({
    send: async ({ url }, idempotencyKey) => {
      const link = tidyUrl(url);
      return { upload: await uploads.fromLink({ type: 'VIDEO', url: link }, { idempotencyKey }), link };
    },
    fields: ['url'],
    onMistakes: form.setErrors,
    onDone: async ({ upload: { objectID, name }, link }) => {
      const before = draft.linkUploadID;
      const host = URL.parse(link)?.host;
      change({ linkUploadID: objectID, importedLink: link, ...renamed(draft, nameFrom(name, host)) });
      onNext();
      // The import of the link that was there before is of no use, unless something plays it: then the server keeps it.
      if (before !== '') await uploads.delete(before).catch(() => undefined);
      await queries.invalidateQueries({ queryKey: ['uploads'] });
    },
  });
  const imported = choices.uploads?.find(({ objectID }) => objectID === draft.linkUploadID);
  const isImported = ({ url }: { url: string }) =>
    tidyUrl(url) === draft.importedLink && imported !== undefined && imported.state !== 'failed';
  return (
    <form
      className={forms.form}
      onSubmit={form.onSubmit((values) => (isImported(values) ? onNext() : submit(values)))}
      noValidate
    >
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
      <Next busy={busy}>{next}</Next>
    </form>
  );
}

const NONE = {
  playlist: 'You have no playlist with videos yet. Choose several files of your own: they become one.',
  upload: 'You have no upload yet. Choose your own file, or paste a link.',
};

function FromChoice({ draft, change, choices, onNext, next }: MediaStepProps) {
  const isList = draft.source === 'playlist';
  const ticks = isList ? listPlaylistItems(choices.playlists, []) : listMediaItems(choices.uploads, draft.uploadID);
  const form = useForm({
    initialValues: {},
    validate: () => (hasMedia(draft) ? {} : { choice: isList ? 'Choose a playlist.' : 'Choose a video.' }),
  });
  const known = isList ? choices.playlists : choices.uploads;
  if (known === undefined) return <Skeleton height={120} radius="md" />;
  if (ticks.length === 0) return <p className={classes.none}>{NONE[isList ? 'playlist' : 'upload']}</p>;
  const choose = ([id = '']: string[]) => {
    const label = ticks.find(({ value }) => value === id)?.label ?? '';
    change({ ...(isList ? { playlistID: id } : { uploadID: id }), ...renamed(draft, nameFrom(label)) });
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
      <Next>{next}</Next>
    </form>
  );
}

const FORMS = { file: FromFile, link: FromLink, upload: FromChoice, playlist: FromChoice };

export function MediaStep(props: MediaStepProps) {
  const { draft, change } = props;
  const Form = FORMS[draft.source];
  return (
    <div className={forms.form}>
      <Choices
        legend="Media to loop"
        name="source"
        choices={SOURCES}
        value={draft.source}
        onChange={(source) => change({ source })}
      />
      <Form key={draft.source} {...props} />
    </div>
  );
}
