/** Shows how programs do what is on screen, by the API and with kubectl. */
import { useState } from 'react';
import { Snippet } from '../../ui/snippet.tsx';
import type { ShownCommands } from './commands.ts';
import classes from './snippets.module.css';

const KINDS = { rest: 'API', kubectl: 'kubectl' } as const;
type SnippetKind = keyof typeof KINDS;

/** `about`: the subject of the commands, e.g. `This stream`. */
export function Snippets({ about, ...commands }: ShownCommands & { about: string }) {
  const [kind, setKind] = useState<SnippetKind>('rest');
  return (
    <>
      <fieldset className={classes.kinds} aria-label="By the API or with kubectl">
        {(Object.keys(KINDS) as SnippetKind[]).map((one) => (
          <button key={one} type="button" aria-pressed={one === kind} onClick={() => setKind(one)}>
            {KINDS[one]}
          </button>
        ))}
      </fieldset>
      <Snippet text={commands[kind]} label={`${about} with ${KINDS[kind]}`} />
      {kind === 'rest' && (
        <p className={classes.more}>
          Every call is described in the <a href="/docs">API pages</a>.
        </p>
      )}
    </>
  );
}

/** Stands at the end of a page. */
export const ForPrograms = (props: ShownCommands & { about: string }) => (
  <details className={classes.programs} data-screen-only>
    <summary>API and kubectl</summary>
    <div>
      <Snippets {...props} />
    </div>
  </details>
);
