import { LLMock } from '@copilotkit/aimock';
import { isFree } from '../ports.js';

/** A simulator of OpenAI's wire format on one of these ports. */
export async function simulatedOpenAi(ports: readonly number[]): Promise<LLMock> {
  for (const port of ports) {
    if (!(await isFree(port))) continue;
    const simulator = new LLMock({ port, host: '127.0.0.1', latency: 5, chunkSize: 6 });
    await simulator.start();
    return simulator;
  }
  throw new Error('No port is free for the simulator.');
}
