/** The same by the API and with kubectl, for the stream that is on screen. */
import { useState } from 'react';
import type { Stream } from '../api.ts';
import { Snippet } from '../parts/snippet.tsx';
import { kubectlSnippet, restSnippet } from './commands.ts';
import classes from './snippets.module.css';

const KINDS = { rest: 'API', kubectl: 'kubectl' } as const;
type Kind = keyof typeof KINDS;

export function Snippets({ stream }: { stream: Stream }) {
  const [kind, setKind] = useState<Kind>('rest');
  const text = kind === 'rest' ? restSnippet(location.origin, stream) : kubectlSnippet(stream);
  return (
    <>
      <fieldset className={classes.kinds} aria-label="By the API or with kubectl">
        {(Object.keys(KINDS) as Kind[]).map((one) => (
          <button key={one} type="button" aria-pressed={one === kind} onClick={() => setKind(one)}>
            {KINDS[one]}
          </button>
        ))}
      </fieldset>
      <Snippet text={text} label={`This stream with ${KINDS[kind]}`} />
      {kind === 'rest' && (
        <p className={classes.more}>
          Every call is described in the <a href="/docs">API pages</a>.
        </p>
      )}
    </>
  );
}
