#include "operator/controllers/work_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace weft::controllers {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

const api::ObjectKey kA = {"ns", "a"}, kB = {"ns", "b"};

std::string Taken(WorkQueue& queue) {
  const auto key = queue.Take();
  return key ? key->name : "closed";
}

TEST(WorkQueueTest, AKeyThatIsAddedTwiceIsTakenOnce) {
  WorkQueue queue;
  queue.Add(kA);
  queue.Add(kA);
  queue.Add(kB);
  EXPECT_EQ(Taken(queue), "a");
  EXPECT_EQ(Taken(queue), "b");
  EXPECT_EQ(queue.depth(), 2U);  // both are being worked on
  queue.Done(kA, WorkQueue::End::kWell);
  queue.Done(kB, WorkQueue::End::kWell);
  EXPECT_EQ(queue.depth(), 0U);
}

TEST(WorkQueueTest, TakesAKeyAddedDuringItsPassAgainAfterIt) {
  WorkQueue queue;
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
  queue.Add(kA);
  queue.Add(kB);
  EXPECT_EQ(Taken(queue), "b");  // not a: its pass runs
  queue.Done(kA, WorkQueue::End::kWell);
  EXPECT_EQ(Taken(queue), "a");
}

TEST(WorkQueueTest, AKeyThatRestsIsTakenAfterOthersAndOnce) {
  WorkQueue queue;
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
  queue.Add(kA);  // during its reconcile
  const auto done = run::BootClock::now();
  queue.Done(kA, WorkQueue::End::kWell, milliseconds(20));
  queue.Add(kA);  // during its rest
  queue.Add(kB);
  EXPECT_EQ(Taken(queue), "b");
  EXPECT_EQ(Taken(queue), "a");
  EXPECT_GE(run::BootClock::now() - done, milliseconds(20));
  queue.Done(kA, WorkQueue::End::kWell);
  queue.Done(kB, WorkQueue::End::kWell);
  EXPECT_EQ(queue.depth(), 0U);
}

TEST(WorkQueueTest, ARestEndsWhenItsKeyIsTaken) {
  WorkQueue queue;
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
  queue.Done(kA, WorkQueue::End::kWell, milliseconds(1));
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
  queue.Done(kA, WorkQueue::End::kWell);
  queue.Add(kA);
  queue.AddAfter(kB, milliseconds(1));
  EXPECT_EQ(Taken(queue), "a");
  EXPECT_EQ(Taken(queue), "b");
}

TEST(WorkQueueTest, AnEarlierTimeStandsAgainstALaterOne) {
  WorkQueue queue;
  queue.AddAfter(kA, hours(1));
  queue.AddAfter(kB, hours(1));
  queue.Add(kB);
  queue.AddAfter(kB, hours(2));
  EXPECT_EQ(Taken(queue), "b");
}

TEST(WorkQueueTest, RetriesAFailedKeyWithoutAnotherAdd) {
  WorkQueue queue({.first_retry = milliseconds(1), .last_retry = milliseconds(2)});
  queue.Add(kA);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Taken(queue), "a");
    queue.Done(kA, WorkQueue::End::kFailed);
  }
}

TEST(WorkQueueTest, KeepsBackoffOfAFailedKeyAddedDuringItsPass) {
  WorkQueue queue({.first_retry = hours(1), .last_retry = hours(1)});
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
  queue.Add(kA);
  queue.Done(kA, WorkQueue::End::kFailed);
  queue.Add(kB);
  EXPECT_EQ(Taken(queue), "b");
}

TEST(WorkQueueTest, TakesAStaleKeyAgainAtItsNextChange) {
  WorkQueue queue({.first_retry = hours(1), .last_retry = hours(1)});
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
  queue.Add(kA);  // the change that the write came too late for
  queue.Done(kA, WorkQueue::End::kStale);
  EXPECT_EQ(Taken(queue), "a");
  queue.Done(kA, WorkQueue::End::kStale);
  queue.Add(kA);
  EXPECT_EQ(Taken(queue), "a");
}

TEST(WorkQueueTest, ChangesDoNotEndThePauseOfAFailedKeyWithinASecond) {
  for (const auto end : {WorkQueue::End::kFailed, WorkQueue::End::kRefused}) {
    WorkQueue queue({.first_retry = hours(1), .last_retry = hours(1)});
    queue.Add(kA);
    EXPECT_EQ(Taken(queue), "a");
    const auto done = run::BootClock::now();
    queue.Done(kA, end);
    queue.Add(kA);
    queue.Add(kB);
    EXPECT_EQ(Taken(queue), "b");
    EXPECT_EQ(Taken(queue), "a");
    EXPECT_GE(run::BootClock::now() - done, std::chrono::seconds(1));
  }
}

TEST(WorkQueueTest, AChainOfStepsThatDoesNotEndIsSlowedDown) {
  WorkQueue queue({.first_retry = hours(1), .last_retry = hours(1)});
  queue.Add(kA);
  for (int step = 0; step < 64; ++step) {
    EXPECT_EQ(Taken(queue), "a");
    queue.Done(kA, WorkQueue::End::kNextStep);
  }
  EXPECT_EQ(Taken(queue), "a");
  queue.Done(kA, WorkQueue::End::kNextStep);
  queue.Add(kA);
  queue.Add(kB);
  EXPECT_EQ(Taken(queue), "b");
  EXPECT_EQ(queue.depth(), 2U);
}

TEST(WorkQueueTest, AChainOfStepsBeginsAnewAfterARest) {
  WorkQueue queue({.first_retry = hours(1), .last_retry = hours(1)});
  queue.Add(kA);
  for (int step = 0; step < 200; ++step) {
    EXPECT_EQ(Taken(queue), "a");
    queue.Done(kA, step % 50 == 0 ? WorkQueue::End::kWell : WorkQueue::End::kNextStep);
    if (step % 50 == 0) queue.Add(kA);
  }
}

TEST(WorkQueueTest, CloseEndsWhoWaits) {
  WorkQueue queue;
  std::string last;
  std::thread waiting([&] { last = Taken(queue); });
  queue.Close();
  waiting.join();
  EXPECT_EQ(last, "closed");
}

}  // namespace
}  // namespace weft::controllers
