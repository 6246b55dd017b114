/** Stands in a page's place while it loads, and when it could not be loaded. */
import { Button, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { tabStorage } from '../lib/tabStorage.ts';
import { Notice } from '../ui/notices.tsx';
import { countTry, findFault } from './pageFault.ts';
import classes from './pending.module.css';

export function PageLoading() {
  return (
    <div className={classes.lines} aria-busy="true">
      <VisuallyHidden role="status">Loading the page</VisuallyHidden>
      <Skeleton height={30} width={220} radius="md" />
      <Skeleton height={180} radius="lg" />
    </div>
  );
}

const TRY_KEY = 'loopstream.page-tries';
const TRY_AFTER_MS = 2_000;

/** Counts the tries over reloads; a page that fails again and again is left to its reader. */
function mayTry(): boolean {
  const before = (tabStorage.getItem(TRY_KEY) ?? '').split(' ').filter(Boolean).map(Number);
  const tries = countTry(before, Date.now());
  if (tries) tabStorage.setItem(TRY_KEY, tries.join(' '));
  return tries !== undefined;
}

/** Whether the server answers: a reload without it would replace the page by the browser's own failure. */
const isServerThere = (): Promise<boolean> =>
  fetch('/v1/status', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * A page that failed. Either a part of it did not come, because the network is away or a newer version has taken its place: it is loaded again
 * once the server answers. Or the page itself is at fault: it is drawn again.
 */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const fault = findFault(error);
  useEffect(() => {
    const retry = async () => {
      if (fault === 'missing' && !(await isServerThere())) return;
      clearInterval(timer);
      if (!mayTry()) return;
      if (fault === 'missing') location.reload();
      else reset();
    };
    const timer = setInterval(() => void retry(), TRY_AFTER_MS);
    return () => clearInterval(timer);
  }, [fault, reset]);
  return (
    <div role="alert">
      <Notice
        title={fault === 'missing' ? 'This page could not be loaded' : 'This page has failed'}
        actions={
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            onClick={() => location.reload()}
          >
            Load again
          </Button>
        }
      >
        {fault === 'missing'
          ? 'The connection may be lost, or loopstream was updated a moment ago.'
          : 'The fault is in the page, not in your connection. An extension of the browser can be the cause.'}{' '}
        The page tries again. Your streams keep running without it.
      </Notice>
    </div>
  );
}
