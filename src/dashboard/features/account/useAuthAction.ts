import { useOnce } from '../../ui/useOnce.ts';
import { explainAuthError } from './authErrors.ts';

/** Sends something to the authorization server once, and explains its refusals. */
export const useAuthAction = <Input, Result>(
  send: (input: Input) => Promise<Result>,
  onDone: (result: Result) => unknown,
) => useOnce(send, onDone, explainAuthError);
