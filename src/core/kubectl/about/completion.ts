/** Explains how the shell completes `kubectl loop`. */
import { write } from '../shell/output.ts';

const TEXT = `kubectl completes the words of a plugin by a program of a certain name, which is this same file.

  1. Install kubectl's own completion: kubectl completion --help
  2. Give this file its second name, in a folder of PATH:

     ln -s "$(command -v kubectl-loop)" "$(dirname "$(command -v kubectl-loop)")/kubectl_complete-loop"

Then press Tab behind "kubectl loop": it completes commands, flags, and names of streams, uploads and destinations.
`;

export async function explainCompletion(): Promise<number> {
  write(TEXT);
  return 0;
}
