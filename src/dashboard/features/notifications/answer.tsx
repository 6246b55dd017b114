import type { Delivery } from '../../../service/client/index.ts';
import { formatMs } from '../../lib/format.ts';
import classes from './notifications.module.css';
import { findAnswerFix } from './text.ts';

interface AnswerProps {
  answer: NonNullable<Delivery['lastAnswer']>;
  /** The answer is that of a test, and not of a delivery in the list. */
  isResult?: boolean;
}

/** The answer of a receiver, and the way on. */
export function Answer({ answer, isResult = false }: AnswerProps) {
  const { status, body, code, message, tookMs } = answer;
  const fix = findAnswerFix(answer);
  return (
    <div
      className={isResult ? classes.result : classes.answer}
      data-ok={code === null}
      {...(isResult && { role: 'status', 'data-testid': 'test-result' })}
    >
      <p>
        {message}{' '}
        <span className={classes.took}>
          {status !== null && `Status ${status}, `}
          {status === null ? `Took ${formatMs(tookMs)}.` : `took ${formatMs(tookMs)}.`}
        </span>
      </p>
      {fix && <p>{fix}</p>}
      {body && code !== null && <pre className={classes.body}>{body}</pre>}
    </div>
  );
}
