import { BullModule } from '@nestjs/bullmq';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { AGGREGATE_LOGS } from './aggregate-logs.queue.js';
import { BoundedWorker } from './bounded-worker.js';
import { QueueBackend } from './queue-backend.js';

BullModule.workerClass = BoundedWorker;

@Module({ providers: [QueueBackend], exports: [QueueBackend] })
class QueueBackendModule implements OnApplicationShutdown {
  constructor(private readonly backend: QueueBackend) {}

  onApplicationShutdown(): void {
    this.backend.close();
  }
}

/** The queues, for producers and workers. Requires `SettingsModule`. */
@Module({
  imports: [
    BullModule.forRootAsync({
      imports: [QueueBackendModule],
      inject: [QueueBackend],
      useFactory: (backend: QueueBackend) => backend.prepare(),
    }),
    BullModule.registerQueue({ name: AGGREGATE_LOGS }),
  ],
  exports: [BullModule],
})
export class QueuesModule {}
