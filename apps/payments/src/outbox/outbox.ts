import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { CloudEvent } from '../brokers/cloud-event.js';
import { PUBLISH_EVENT } from './publish-event.js';

/** As many as the queue can count to: an event is tried until a broker has it. */
const MAX_ATTEMPTS = 32_767;

/** Events for others, which are published after the commit, and for certain. */
@Injectable()
export class Outbox {
  /** The event is published exactly if the transaction commits; more than once, under one id, where a broker's word is lost. */
  async put(manager: EntityManager, event: CloudEvent): Promise<void> {
    await manager.query('SELECT graphile_worker.add_job($1, payload := $2::json, max_attempts := $3)', [
      PUBLISH_EVENT,
      JSON.stringify(event),
      MAX_ATTEMPTS,
    ]);
  }
}
