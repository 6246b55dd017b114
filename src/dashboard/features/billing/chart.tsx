/** Draws the cost of each day as bars. Loaded when it is looked at: the library of charts is as large as all else. */
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';

interface UsageChartProps {
  days: readonly { day: string; cost: number }[];
  /** Formats a number of the axis. */
  format: (cost: number) => string;
}

export default function UsageChart({ days, format }: UsageChartProps) {
  return (
    <BarChart
      h={220}
      data={days.map(({ day, cost }) => ({ day, Cost: cost }))}
      dataKey="day"
      series={[{ name: 'Cost', color: 'var(--ls-accent)' }]}
      gridColor="var(--ls-line)"
      textColor="var(--ls-dim)"
      cursorFill="var(--ls-hover)"
      valueFormatter={format}
      tickLine="none"
      maxBarWidth={34}
      barChartProps={{ accessibilityLayer: false, margin: { left: 4 } }}
      barProps={{ radius: [4, 4, 0, 0], isAnimationActive: false }}
      xAxisProps={{ minTickGap: 24 }}
      yAxisProps={{ width: 62, tickCount: 4 }}
    />
  );
}
