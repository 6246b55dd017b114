import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useDrafts } from '../lib/drafts/context.tsx';

/**
 * Keeps the open form of a page in the address, so that a user who comes back, after signing in again or by the browser's
 * own ways, finds it open, and so that the way back closes it.
 */
export function useOpen() {
  const { form } = useSearch({ strict: false });
  const router = useRouter();
  const navigate = useNavigate();
  // The account has to be known first: a form shows its draft.
  const { known } = useDrafts();
  const closing = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another form, or none, is what has come of closing.
  useEffect(() => {
    closing.current = false;
  }, [form]);
  const open = (name: string) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, form: name }),
      state: { formOpened: true },
      resetScroll: false,
    });
  const close = () => {
    if (closing.current || form === undefined) return;
    closing.current = true;
    if (router.latestLocation.state.formOpened) return router.history.back();
    const without = { to: '.', search: (before: object) => ({ ...before, form: undefined }) } as const;
    void navigate({ ...without, replace: true, resetScroll: false });
  };
  return { opened: known ? form : undefined, open, close };
}
