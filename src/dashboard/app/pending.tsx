/** Stands in a page's place while it loads, and when it could not be loaded. */
import { Button, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { Notice } from '../ui/notices.tsx';
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

/** A part of the page that did not come: the network is away, or a newer version of the page has taken its place. */
export function PageFailure() {
  return (
    <div role="alert">
      <Notice
        title="This page could not be loaded"
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
        The connection may be lost, or loopstream was updated a moment ago. Your streams keep running without this page.
      </Notice>
    </div>
  );
}
