#pragma once

namespace attnspan {

/// Root of the five kinds. Objects are made and destroyed by the host, hold nothing but what they were made with, and
/// may be used from several threads as long as each thread has its own; where a member function may be called on one
/// object from several threads its comment says so.
class Interface {
public:
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
};

}  // namespace attnspan
