/** A new stream, in three steps. */
import { IconCheck } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useDrafts } from '../../lib/drafts/context.tsx';
import { useDraft } from '../../lib/drafts/useDraft.ts';
import { PageHead, useTitle } from '../../ui/page.tsx';
import { useChoices } from '../streams/choices.ts';
import classes from './create.module.css';
import { DestinationStep } from './destination.tsx';
import { draftFrom, type NewStream } from './draft.ts';
import { MediaStep } from './media.tsx';
import { CreateProgress } from './progress.tsx';
import { type CreateStep, limitStep, STEP_WORDS, STEPS } from './steps.ts';
import { StreamStep } from './stream.tsx';

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

function Way() {
  const { step: asked } = useSearch({ from: '/create' });
  const navigate = useNavigate({ from: '/create' });
  const queries = useQueryClient();
  const { draft, change: changeDraft, forget } = useDraft('new stream', draftFrom);
  const change = useCallback(
    (more: Partial<NewStream>) => changeDraft((before) => ({ ...before, ...more })),
    [changeDraft],
  );
  const choices = useChoices();
  const step = limitStep(asked, draft);
  // In the address, so that the browser's own way back leads to the step before.
  const go = (next: CreateStep) => void navigate({ search: { step: next } });
  const props: { draft: NewStream; change: typeof change; choices: typeof choices } = { draft, change, choices };
  return (
    <>
      <Steps step={step} go={go} />
      <section className={classes.card} aria-label={STEP_WORDS[step]}>
        {step === 'media' && <MediaStep {...props} onNext={() => go('destination')} />}
        {step === 'destination' && (
          <DestinationStep {...props} onNext={() => go('stream')} onBack={() => go('media')} />
        )}
        {step === 'stream' && (
          <StreamStep
            {...props}
            onBack={() => go('destination')}
            onDone={async ({ id }, started) => {
              forget();
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
