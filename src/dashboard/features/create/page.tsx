/** A new stream, in three steps. */
import { IconCheck } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { useDrafts } from '../../lib/drafts/context.tsx';
import { useDraft } from '../../lib/drafts/useDraft.ts';
import { PageHead, useTitle } from '../../ui/page.tsx';
import { type StreamChoices, useChoices } from '../streams/choices.ts';
import { useIntents } from '../streams/queries.ts';
import classes from './create.module.css';
import { DestinationStep } from './destination.tsx';
import { draftFrom, type NewStream } from './draft.ts';
import { areFilesBeginning, findFilesProblem } from './fileState.ts';
import fileClasses from './files.module.css';
import { FileLines, useFileStates } from './files.tsx';
import { MediaStep } from './media.tsx';
import { CreateProgress } from './progress.tsx';
import { type CreateStep, limitStep, nameFrom, planFiles, renamed, STEP_WORDS, STEPS } from './steps.ts';
import { StreamStep } from './stream.tsx';
import { suggestProfile } from './suggestProfile.ts';
import { useDestinationCheck } from './useDestinationCheck.ts';

interface StepsProps {
  step: CreateStep;
  go: (step: CreateStep) => void;
}

/** The steps, the current one marked; a step that is done can be gone back to. */
function Steps({ step, go }: StepsProps) {
  const at = STEPS.indexOf(step);
  return (
    <ol className={classes.steps} aria-label="Steps">
      {STEPS.map((one, i) => (
        <li key={one} aria-current={i === at ? 'step' : undefined} data-done={i < at || undefined}>
          <span className={classes.number}>{i < at ? <IconCheck size={15} aria-label="Done:" /> : i + 1}</span>
          {i < at ? (
            <button type="button" onClick={() => go(one)}>
              {STEP_WORDS[one]}
            </button>
          ) : (
            <span>
              <span className={classes.stepOf}>
                Step {i + 1} of {STEPS.length}:{' '}
              </span>
              {STEP_WORDS[one]}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The picture of the media that is chosen, as far as the server knows it. */
function findPicture({ source, files, linkUploadID, uploadID }: NewStream, { uploads }: StreamChoices) {
  const [first] = planFiles(files).pictures;
  const id = { file: first?.objectID, link: linkUploadID, upload: uploadID, playlist: undefined }[source];
  return uploads?.find(({ objectID }) => objectID === id)?.video ?? undefined;
}

/** Begins with the playlist in the address. */
function useGivenPlaylist(draft: NewStream, change: (more: Partial<NewStream>) => void, choices: StreamChoices): void {
  const { playlist: id } = useSearch({ from: '/create' });
  const navigate = useNavigate({ from: '/create' });
  const given = id === undefined ? undefined : choices.playlists?.find((one) => one.id === id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is taken once, when it is known.
  useEffect(() => {
    if (!given) return;
    change({ source: 'playlist', playlistID: given.id, ...renamed(draft, nameFrom(given.name)) });
    void navigate({ search: { step: 'destination' }, replace: true });
  }, [given?.id]);
}

function Way() {
  const { step: asked } = useSearch({ from: '/create' });
  const navigate = useNavigate({ from: '/create' });
  const queries = useQueryClient();
  const intents = useIntents();
  const { draft, change: changeDraft, forget } = useDraft('new stream', draftFrom);
  const change = useCallback(
    (more: Partial<NewStream>) => changeDraft((before) => ({ ...before, ...more })),
    [changeDraft],
  );
  const choices = useChoices();
  const check = useDestinationCheck();
  const { source, files } = draft;
  const states = useFileStates(files, choices.uploads, (begun) => change({ files: begun }));
  useGivenPlaylist(draft, change, choices);
  const step = limitStep(asked, draft);
  // In the address, so that the browser's own way back leads to the step before.
  const go = (next: CreateStep) => void navigate({ search: { step: next } });
  const props: { draft: NewStream; change: typeof change; choices: typeof choices } = { draft, change, choices };
  const card = useRef<HTMLElement>(null);
  const first = useRef(step);
  // The button that led here is gone, and the focus with it.
  useEffect(() => {
    if (first.current !== step) card.current?.focus();
    first.current = step;
  }, [step]);
  return (
    <>
      <Steps step={step} go={go} />
      {step !== 'media' && source === 'file' && (
        <div className={fileClasses.strip}>
          <FileLines files={files} states={states} />
        </div>
      )}
      <section ref={card} className={classes.card} aria-label={STEP_WORDS[step]} tabIndex={-1}>
        {step === 'media' && <MediaStep {...props} states={states} onNext={() => go('destination')} />}
        {step === 'destination' && (
          <DestinationStep {...props} check={check} onNext={() => go('stream')} onBack={() => go('media')} />
        )}
        {step === 'stream' && (
          <StreamStep
            {...props}
            check={check}
            suggested={suggestProfile(findPicture(draft, choices))}
            filesProblem={source === 'file' ? findFilesProblem(states, files) : undefined}
            isBeginning={source === 'file' && areFilesBeginning(states, files)}
            onBack={() => go('destination')}
            onDone={async ({ id }, started) => {
              forget();
              if (started) intents.set(id, 'start');
              // Going back from there does not lead into a form that was sent.
              if (started) await navigate({ search: { stream: id }, replace: true });
              else await navigate({ to: '/streams/$id', params: { id }, replace: true });
              await queries.invalidateQueries({ queryKey: ['streams'] });
            }}
          />
        )}
      </section>
    </>
  );
}

export function CreatePage() {
  const { stream } = useSearch({ from: '/create' });
  const { known } = useDrafts();
  useTitle('New stream');
  return (
    <div className={classes.page}>
      <PageHead title="New stream" lead={stream ? undefined : 'From a video to your channel in three steps.'} />
      {stream ? <CreateProgress id={stream} /> : known && <Way />}
    </div>
  );
}
