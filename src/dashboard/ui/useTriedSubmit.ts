import { useState } from 'react';
import type { TrialOptions } from '../../service/client/index.ts';
import type { FormErrors } from './fieldErrors.ts';
import { useSubmit } from './useSubmit.ts';

interface TriedSubmitOptions<Values, Change> {
  send: (values: Values, call: TrialOptions) => Promise<Change>;
  /** Whether a person has to answer before the change is made. */
  asks: (change: Change) => boolean;
  fields: readonly string[];
  onMistakes: (fields: FormErrors['fields']) => void;
  onDone: (change: Change) => unknown;
}

/**
 * Sends a form after a dry run. A change that ends what viewers see waits as `question`, until it is answered: the server decides that,
 * by the rules of the operator.
 */
export function useTriedSubmit<Values, Change>(options: TriedSubmitOptions<Values, Change>) {
  const { send, asks, fields, onMistakes, onDone } = options;
  const [question, setQuestion] = useState<{ values: Values; change: Change }>();
  const { submit, ...sent } = useSubmit<Values, Change>({
    send: (values, idempotencyKey) => send(values, { idempotencyKey }),
    fields,
    onMistakes,
    onDone,
  });
  const trial = useSubmit<Values, { values: Values; change: Change }>({
    send: async (values) => ({ values, change: await send(values, { dryRun: true }) }),
    fields,
    onMistakes,
    onDone: (tried) => (asks(tried.change) ? setQuestion(tried) : submit(tried.values)),
  });
  const dismiss = () => setQuestion(undefined);
  return {
    submit: trial.submit,
    busy: trial.busy || sent.busy,
    problem: trial.problem ?? sent.problem,
    question,
    /** Leaves everything as it is. */
    dismiss,
    answer: (values: Values) => {
      dismiss();
      submit(values);
    },
  };
}
