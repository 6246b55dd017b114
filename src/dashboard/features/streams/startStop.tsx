/** Start and stop of one stream. Taking a running stream off air asks once more, because viewers notice. */
import { Button, Popover } from '@mantine/core';
import { IconPlayerPlayFilled, IconPlayerStopFilled } from '@tabler/icons-react';
import { useId, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { Name } from '../../ui/name.tsx';
import { actionsIn, isRunning } from './phase.ts';
import classes from './power.module.css';
import { usePower, useStartAhead } from './queries.ts';

type Power = ReturnType<typeof usePower>;

/** The words of a stop in a state: its label, and its question. */
interface Stop {
  label: string;
  question: string;
  consequence: string;
  no: string;
  yes: string;
}

const STOP: Stop = {
  label: 'Stop',
  question: 'Take this stream off air?',
  consequence: 'The stream ends for viewers immediately, on every destination.',
  no: 'Keep on air',
  yes: 'Stop stream',
};

const CANCEL: Stop = {
  label: 'Cancel the schedule',
  question: 'Cancel the schedule?',
  consequence:
    'The stream does not go on air by itself, until you start it. The times stay, so that you can change them.',
  no: 'Keep it',
  yes: 'Cancel the schedule',
};

interface StopButtonProps {
  name: string;
  words: Stop;
  asks: boolean;
  power: Power;
}

function StopButton({ name, words, asks, power }: StopButtonProps) {
  const [asking, setAsking] = useState(false);
  const titleId = useId();
  const { label, question, consequence, no, yes } = words;
  const stop = () => {
    setAsking(false);
    power.mutate('stop');
  };
  return (
    <Popover opened={asking} onChange={setAsking} position="bottom-end" width={310} trapFocus returnFocus withArrow>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconPlayerStopFilled size={15} aria-hidden />}
          aria-label={label === STOP.label ? `Stop ${name}` : `${label} of ${name}`}
          loading={power.isPending && power.want === 'stop'}
          onClick={() => (asks ? setAsking((open) => !open) : stop())}
          data-testid="stream-stop"
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-labelledby={titleId}>
        <p id={titleId} className={classes.question}>
          {question}
        </p>
        <p className={classes.name}>
          <Name>{name}</Name>
        </p>
        <p className={classes.consequence}>{consequence}</p>
        <div className={classes.answers}>
          <Button size="sm" variant="default" onClick={() => setAsking(false)} data-autofocus>
            {no}
          </Button>
          <Button size="sm" variant="danger" onClick={stop} data-testid="stream-stop-confirm">
            {yes}
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

interface StartButtonProps {
  name: string;
  label: string;
  idle: boolean;
  isPending: boolean;
  onStart: () => void;
}

function StartButton({ name, label, idle, isPending, onStart }: StartButtonProps) {
  return (
    <Button
      leftSection={<IconPlayerPlayFilled size={15} aria-hidden />}
      aria-label={`${label} ${name}`}
      loading={isPending}
      disabled={idle}
      onClick={onStart}
      data-testid="stream-start"
    >
      {label}
    </Button>
  );
}

/** The buttons that make sense in a state; while it is going off air, a start that waits for it. */
export function StartStopButtons({ stream, phase }: { stream: Stream; phase: string }) {
  const power = usePower(stream);
  const ahead = useStartAhead(stream);
  const actions = actionsIn(phase);
  const isScheduled = phase === 'scheduled';
  // A start leaves recurring windows as they are, so the stream is put on air until the first of them.
  const isAhead = isScheduled && stream.recurrence !== null && stream.nextStartAt !== null;
  return (
    <div className={classes.buttons}>
      {actions.includes('stop') && (
        <StopButton
          name={stream.name}
          words={isScheduled ? CANCEL : STOP}
          asks={isScheduled || isRunning(phase)}
          power={power}
        />
      )}
      {(actions.includes('start') || actions.length === 0) && (
        <StartButton
          name={stream.name}
          label={isScheduled ? 'Start now' : 'Start'}
          idle={actions.length === 0}
          isPending={(power.isPending && power.want === 'start') || ahead.isPending}
          onStart={() => (isAhead ? ahead.mutate() : power.mutate('start'))}
        />
      )}
    </div>
  );
}
